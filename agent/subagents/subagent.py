"""Sub-agents: the same loop with a fresh history, its own turn limit, and only a report coming
back.

Rules, hooks and the mode are the parent's (pattern "Context Isolation"); a sub-agent has no
user to talk to and starts no further agents.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.abort import AbortController, AbortSignal
from agent.events import AgentEvent, MessageCommitted, UsageUpdate
from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.answer_text import AnswerText
from agent.loop.loop import AgentLoop
from agent.loop.loop_ports import LoopPorts
from agent.messages import Message, user_message
from agent.stream import Emit, TurnEvents
from agent.tools.services import SubagentPort, SubagentReport

MAX_TURNS: Final = 50
NOT_IN_SUBAGENTS: Final = frozenset(
    {"Agent", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TodoWrite"}
)
"""Tools that need the user, or that would nest."""
READ_ONLY_TYPES: Final = frozenset({"explore", "plan"})
READ_TOOLS: Final = frozenset({"Read", "Glob", "Grep", "WebFetch"})


class SubagentSpec(Struct, frozen=True):
    """Which agent to build."""

    agent_id: str
    agent_type: str
    model: str | None

    def has_tool(self, name: str) -> bool:
        """Whether this kind of agent gets the tool."""
        if self.agent_type.lower() in READ_ONLY_TYPES:
            return name in READ_TOOLS
        return name not in NOT_IN_SUBAGENTS


class BuiltSubagent(Struct, frozen=True):
    """A sub-agent ready to run."""

    ports: LoopPorts
    hooks: HookDispatch


class SubagentRunner:
    """Builds and runs sub-agents for one conversation."""

    def __init__(self, build: Callable[[SubagentSpec], BuiltSubagent], emit: Emit) -> None:
        """`build` makes the ports of one agent; `emit` takes its events."""
        self._build = build
        self._emit = emit

    async def run(
        self,
        *,
        description: str,
        prompt: str,
        subagent_type: str,
        model: str | None,
        abort: AbortSignal,
        parent_tool_use_id: str,
    ) -> SubagentReport:
        """Run one agent to its end and return its report; never raises for its failures."""
        spec = SubagentSpec(uuid.uuid4().hex[:12], subagent_type or "general-purpose", model)
        built = self._build(spec)
        new: list[Message] = []
        started = await built.hooks.subagent_start()
        if started is not None and started.additional_context:
            new.append(user_message(started.additional_context, origin="hook"))
        new.append(user_message(prompt))
        controller = AbortController()
        watcher = asyncio.ensure_future(_forward(abort, controller))
        answer, tokens = AnswerText(), 0

        async def emit(event: AgentEvent) -> None:
            nonlocal tokens
            if isinstance(event, MessageCommitted):
                answer.see(event.message)
            if isinstance(event, UsageUpdate):
                tokens += event.usage.prompt_tokens + event.usage.output_tokens
            await self._emit(event)

        events = TurnEvents(emit, parent_tool_use_id, spec.agent_id)
        loop = AgentLoop(built.ports, events, max_turns=MAX_TURNS)
        try:
            end = await loop.run((), new, controller)
        finally:
            watcher.cancel()
        return SubagentReport(answer.text, end.reason, end.turns, tokens, spec.agent_id)


async def _forward(abort: AbortSignal, controller: AbortController) -> None:
    controller.abort(await abort.wait())


if TYPE_CHECKING:

    def _proves(runner: SubagentRunner) -> SubagentPort:
        return runner
