"""Questions that wait behind one another and are answered with one key: where one answer fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from permissions.base.text.sanitize import reveal
from permissions.decision import Decision, Reason
from permissions.explain.decision_history import described_call
from permissions.request import PermissionRequest
from tui.text.styled_rows import MUTED, TEXT, Row, Run, indent_rows, row
from tui.text.wrap import wrap

MAX_ROWS: Final = 3
"""Rows that a call may take: what is answered together is seen whole."""

_ALONE: Final = frozenset(
    {
        Reason.PROTECTED_PATH,
        Reason.SCOPE_BOUNDS_VIOLATION,
        Reason.UNPARSABLE,
        Reason.UNKNOWN_TOOL,
        Reason.WANTS_USER,
    }
)
"""Grounds that deserve a look of their own."""


class WaitingQuestion(Struct, frozen=True):
    """One more question, and how to answer it."""

    request: PermissionRequest
    pending: Decision
    answer: Callable[[Decision], None]


def fitting(
    request: PermissionRequest,
    pending: Decision,
    others: Sequence[WaitingQuestion],
    width_cells: int,
) -> list[WaitingQuestion]:
    """Return those of the others that the answer to this question answers too.

    The same tool asks on the same ground, and all of the call can be shown at that width.
    """
    if pending.reason in _ALONE:
        return []
    return [
        other
        for other in others
        if other.request.tool == request.tool
        and (other.pending.reason, other.pending.rule) == (pending.reason, pending.rule)
        and len(_lines(other, width_cells)) <= MAX_ROWS
    ]


def waiting_rows(others: Sequence[WaitingQuestion], width_cells: int, indent: int) -> list[Row]:
    """Return the calls that one key would answer too; () for none."""
    if not others:
        return []
    pad: tuple[Run, ...] = ((" " * indent, TEXT),)
    rows = [row(*pad, (f"Also waiting for the same answer ({len(others)}):", MUTED))]
    for other in others:
        lines = _lines(other, width_cells)
        rows.extend(indent_rows(lines, (*pad, ("· ", MUTED)), (*pad, ("  ", MUTED))))
    return rows


def _lines(other: WaitingQuestion, width_cells: int) -> list[Row]:
    call = described_call(other.request.tool, other.request.tool_input)
    return wrap([(reveal(call), TEXT)], max(1, width_cells - 2))
