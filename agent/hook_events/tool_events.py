"""The hook events around one tool call, and after a batch of them.

Implements the hook port of `agent.tools.call`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agent.abort import AbortSignal
from agent.hook_events.fire import HookFiring
from agent.messages import ToolUse
from agent.tools.call import CallHooks, CallOutcome
from hooks.answers.outcome import EventOutcome
from hooks.events import (
    PermissionDenied,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
)
from permissions.base.text.late_pattern import compile_late

_MCP_NAME: Final = compile_late(r"^mcp__(.+?)__")


class ToolEvents:
    """Fires the events of tool calls of one agent. Payloads are built only if a hook listens."""

    def __init__(self, firing: HookFiring) -> None:
        """Fire through `firing`."""
        self._firing = firing
        self.classifier_context = firing.classifier_context
        """Returns the latest notes that hooks left for the permission classifier, oldest first."""

    async def pre_tool_use(
        self, call: ToolUse, tool_input: Mapping[str, object], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PreToolUse."""
        if not self._firing.runner.has("PreToolUse"):
            return None
        server = _MCP_NAME.match(call.name)
        return await self._firing.fire(
            PreToolUse(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                mcp_server=server.group(1) if server else None,
            ),
            abort,
            call.id,
        )

    async def post_tool_use(
        self,
        call: ToolUse,
        tool_input: Mapping[str, object],
        response: object,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """Fire PostToolUse."""
        if not self._firing.runner.has("PostToolUse"):
            return None
        rewritten = dict(call.input) if dict(call.input) != dict(tool_input) else None
        return await self._firing.fire(
            PostToolUse(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                tool_response=dict(response) if isinstance(response, Mapping) else response,
                original_tool_input=rewritten,
                duration_ms=duration_ms,
            ),
            abort,
            call.id,
        )

    async def post_tool_use_failure(
        self,
        call: ToolUse,
        tool_input: Mapping[str, object],
        error: str,
        *,
        is_interrupt: bool,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """Fire PostToolUseFailure."""
        if not self._firing.runner.has("PostToolUseFailure"):
            return None
        return await self._firing.fire(
            PostToolUseFailure(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                error=error,
                is_interrupt=is_interrupt,
                duration_ms=duration_ms,
            ),
            abort,
            call.id,
        )

    async def permission_denied(
        self, call: ToolUse, tool_input: Mapping[str, object], reason: str
    ) -> EventOutcome | None:
        """Fire PermissionDenied."""
        if not self._firing.runner.has("PermissionDenied"):
            return None
        return await self._firing.fire(
            PermissionDenied(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                reason=reason,
            ),
            None,
            call.id,
        )

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PostToolBatch."""
        if not self._firing.runner.has("PostToolBatch"):
            return None
        calls: list[dict[str, object]] = [
            {
                "tool_name": use.name,
                "tool_input": dict(
                    use.input if outcome.visible_input is None else outcome.visible_input
                ),
                "tool_use_id": use.id,
                "tool_response": outcome.response,
            }
            for use, outcome in outcomes
        ]
        return await self._firing.fire(PostToolBatch(tool_calls=calls), abort)


if TYPE_CHECKING:

    def _check_protocol(events: ToolEvents) -> CallHooks:
        return events
