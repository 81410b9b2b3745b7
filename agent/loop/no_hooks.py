"""Hooks for a loop that fires none, because its calls are internal to the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.abort import AbortSignal
from agent.events import AgentEvent
from agent.messages import ToolUse
from agent.tools.call import CallHooks, CallOutcome
from hooks.answers.outcome import EventOutcome

if TYPE_CHECKING:
    from agent.loop.loop_ports import TurnHooks


class NoHooks:
    """Fires no hooks: every event returns None or an empty list."""

    async def pre_tool_use(self, call: ToolUse, *_: object) -> EventOutcome | None:
        return None

    async def post_tool_use(self, call: ToolUse, *_: object) -> EventOutcome | None:
        return None

    async def post_tool_use_failure(
        self, call: ToolUse, *_: object, **__: object
    ) -> EventOutcome | None:
        return None

    async def permission_denied(self, call: ToolUse, *_: object) -> EventOutcome | None:
        return None

    def classifier_context(self) -> tuple[str, ...]:
        return ()

    async def stop(
        self, last_text: str, *, active: bool, abort: AbortSignal
    ) -> EventOutcome | None:
        return None

    async def stop_failure(self, kind: str, detail: str) -> None:
        return None

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        return None

    def notices(self) -> list[AgentEvent]:
        return []

    def late_context(self) -> list[str]:
        return []


if TYPE_CHECKING:

    def _check_protocol(hooks: NoHooks) -> tuple[CallHooks, TurnHooks]:
        return hooks, hooks
