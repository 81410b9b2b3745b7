"""Output that is not a terminal: what was denied is said once, in words for the user."""

from __future__ import annotations

import io

from agent.events import PermissionResolved, ToolDispatch, ToolResult
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from tui.startup.plain_printer import PlainPrinter


def test_a_denial_is_printed_once() -> None:
    out = io.StringIO()
    printer = PlainPrinter(out)
    message = "writes /x, outside the working directories. This run cannot ask, so it was denied."
    decision = Decision(
        Behavior.DENY,
        DecisionSource.SCOPE_CHECK,
        ReasonType.SAFETY_CHECK,
        Reason.SCOPE_BOUNDS_VIOLATION,
        message,
    )
    printer.event(ToolDispatch("t", "u", "Write", {}, "Write /x"))
    printer.event(PermissionResolved("t", "r", "u", decision))
    printer.event(ToolResult("t", "u", "Write", f"Permission denied: {message}", True, 0, "denied"))
    assert out.getvalue() == f"* Write /x\n  deny: {message}\n\n"
