"""Answers several waiting questions with one key, if the same answer applies to all of them."""

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
"""Maximum number of rows of a call: calls that are answered together are shown completely."""

_ALONE: Final = frozenset(
    {
        Reason.PROTECTED_PATH,
        Reason.SCOPE_BOUNDS_VIOLATION,
        Reason.UNPARSABLE,
        Reason.UNKNOWN_TOOL,
        Reason.WANTS_USER,
    }
)
"""Reasons to ask that each need a separate answer."""


class WaitingQuestion(Struct, frozen=True):
    """A question that waits behind the visible one, with a callback that answers it."""

    request: PermissionRequest
    pending: Decision
    answer: Callable[[Decision], None]


def fitting(
    request: PermissionRequest,
    pending: Decision,
    others: Sequence[WaitingQuestion],
    width_cells: int,
) -> list[WaitingQuestion]:
    """Return those of the other questions to which the answer to this one also applies.

    They have the same tool, reason and rule, and the whole call can be shown at that width.
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
    """Return rows with the calls that one key would also answer; [] if there are none."""
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
