"""Decides the calls of the audit log again, to find what today's rules decide differently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from permissions.context import PermissionContext
from permissions.decision import Decision
from permissions.evaluate.cascade import decide
from permissions.explain.audit_reader import LoggedCall, logged_calls
from permissions.explain.decision_history import described_call

_SHOWN_CHARS = 120


class Difference(Struct, frozen=True):
    """One logged decision, and the answer of today's rules."""

    timestamp: str
    tool: str
    call: str
    """The call in short, for users."""
    old_behavior: str
    """What was decided then: `allow` or `deny`."""
    source: str
    """Who decided then."""
    now: str
    """What steps 1 to 3 answer today: `allow`, `ask` or `deny`."""
    message: str
    check_result: str = ""
    """What steps 1 to 3 answered then."""

    @property
    def is_changed(self) -> bool:
        """Whether today's rules answer differently than the rules of that time."""
        return self.now != self.check_result

    def describe(self) -> str:
        """Return the difference in one line."""
        return (
            f"{self.timestamp}  {self.call}: {self.old_behavior} by {self.source}"
            f" → {self.now} ({self.message})"
        )

    def to_json(self) -> str:
        """Return the difference as one JSON line."""
        return json.dumps(
            {
                "at": self.timestamp,
                "tool": self.tool,
                "call": self.call,
                "before": self.old_behavior,
                "source": self.source,
                "checked": self.check_result or None,
                "now": self.now,
                "message": self.message,
            },
            ensure_ascii=False,
        )


def replay(
    directory: Path, context: PermissionContext, *, earliest: str | None = None
) -> Iterator[Difference]:
    """Yield the logged decisions of a launch directory, oldest first, as `logged_calls` does.

    Args:
        earliest: A date (`2026-01-31`) or any prefix of a time; None reads everything.
    """
    for call in logged_calls(directory, context.launch_dir, earliest=earliest):
        decision = decide_again(call, context)
        yield Difference(
            timestamp=call.timestamp,
            tool=call.request.tool,
            call=described_call(call.request.tool, call.request.tool_input)[:_SHOWN_CHARS],
            old_behavior=call.behavior,
            source=call.source,
            now=str(decision.behavior),
            message=decision.message,
            check_result=call.check_result,
        )


def decide_again(call: LoggedCall, context: PermissionContext) -> Decision:
    """Return the decision of the context's rules on a logged call, in the call's mode."""
    # A call in bypassPermissions was made while that mode was available.
    context = replace(context, bypass_available=True).with_mode(call.mode)
    return decide(call.request, context, cwd=call.cwd or context.launch_dir)
