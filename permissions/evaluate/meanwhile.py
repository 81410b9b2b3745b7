"""Decides an open ask again, by the current rules, mode and files."""

from __future__ import annotations

from msgspec.structs import replace

from permissions.decision import Behavior, Decision, TraceStep


def decided_anew(current: Decision, pending: Decision, *, may_allow: bool) -> Decision | None:
    """Return the current decision about an open ask, or None while it stays open.

    Args:
        current: The decision of steps 1 to 3 now.
        pending: The ask.
        may_allow: False where it is not known in which directory the call would run.
    """
    asked_by_hook = any(
        entry.step is TraceStep.HOOK and entry.answer in {"ask", "defer"} for entry in pending.trace
    )
    if current.behavior is Behavior.ASK:
        return None
    if current.behavior is Behavior.ALLOW and (asked_by_hook or not may_allow):
        return None
    message = f"{current.message.rstrip('.')} (changed while it was asked about)."
    return replace(current, message=message)


def unless_denied(answer: Decision, current: Decision, pending: Decision) -> Decision:
    """Return the answer, or a deny that applies since the question was asked.

    A write outside that the question did not name is denied too: no user allowed it.
    """
    if current.behavior is Behavior.ASK and not set(current.write_dirs) <= set(pending.write_dirs):
        message = f"{current.message.rstrip('.')}, which it did not when it was asked about"
        return replace(current, behavior=Behavior.DENY, message=message)
    return current if current.behavior is Behavior.DENY else answer
