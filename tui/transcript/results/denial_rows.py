"""Why a call was denied, in the words of its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.tools.decline_text import DECLINED, comment_in
from themes.theme import Role
from tui.text.styled_rows import TEXT, Ink, Row, Run
from tui.text.wrap import wrap
from tui.transcript.blocks import ToolCard

if TYPE_CHECKING:
    from permissions.decision import Reason


def denial_rows(card: ToolCard, width: int, is_detailed: bool) -> list[Row]:
    """Return the reason of a denial, and what the user said about it."""
    from permissions.decision import DecisionSource  # with the first denial, not at the start

    decision = card.decision
    reason = decision.message if decision else card.result
    feedback = decision.feedback if decision else None
    is_outside = decision is not None and _is_write_outside(decision.reason, reason)
    text = f"Denied: {reason}" if reason else "Denied"
    if is_outside:
        text = f"Blocked: {reason}. Allow a folder with /add-dir."
    if decision is not None and decision.source is DecisionSource.USER:
        # The reason is text for the model.
        text = "Denied by you"
    elif card.result.startswith(DECLINED):
        text, feedback = "Denied by you", comment_in(card.result)
    runs: list[Run] = [(text, Ink(Role.WARNING))]
    if feedback:
        runs.append((f" “{feedback}”", TEXT))
    return wrap(runs, width)[: None if is_detailed else 4]


def _is_write_outside(reason: Reason, message: str) -> bool:
    return reason == "scope_bounds_violation" and "writes " in message
