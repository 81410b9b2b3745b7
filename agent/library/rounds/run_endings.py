"""Ends a run: with an output of a model, of a tool, or of one of the caller's handlers."""

from __future__ import annotations

from agent.library.agents.agent_definition import Agent
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import (
    AgentsException,
    MaxTurnsExceeded,
    OutputGuardrailTripwireTriggered,
)
from agent.library.items.run_items import RunItem
from agent.library.rounds.agent_spans import AgentSpans
from agent.library.rounds.final_outputs import handle_error, handler_message
from agent.library.rounds.guard_runs import run_output_guardrails
from agent.library.rounds.run_hook_events import RunHookEvents
from agent.library.rounds.session_turns import save_turn
from agent.library.state.run_scope import RunScope
from agent.loop.loop_state import LoopState


class RunEndings:
    """Ends one run."""

    def __init__(self, scope: RunScope, events: RunHookEvents, spans: AgentSpans) -> None:
        """`events` fires Stop; `spans` records errors."""
        self._scope = scope
        self._state = scope.state
        self._events = events
        self._spans = spans

    async def end(self, state: LoopState, agent: Agent, output: RawItem) -> LoopState | None:
        """End with an output, unless a Stop hook continues the run."""
        scope = self._scope
        if await self._events.continues(agent, output, active=state.stop_hook_blocks > 0):
            await save_turn(scope)
            return state.advance("stop_hook_blocking")
        await self._fire_end(agent, output)
        await self._store(agent, output, [])
        return None

    async def end_at_limit(self) -> None:
        """End at the limit of turns.

        Raises:
            MaxTurnsExceeded: no handler returns an output.
        """
        limit = self._state.max_turns
        error = MaxTurnsExceeded(f"Max turns ({limit}) exceeded")
        self._spans.fail("Max turns exceeded", {"max_turns": limit})
        await self.by_handler(self._state.current_agent, "max_turns", error)

    async def by_handler(self, agent: Agent, kind: str, error: AgentsException) -> None:
        """End with the output of the caller's handler for an error.

        Raises:
            AgentsException: the error itself, if no handler returns an output.
        """
        result = await handle_error(self._scope, kind, error)
        if result is None:
            raise error
        message: list[RunItem] = []
        if result.include_in_history:
            message.append(handler_message(agent, result.final_output))
        else:
            await self._fire_end(agent, result.final_output)
        await self._store(agent, result.final_output, message)

    async def _fire_end(self, agent: Agent, output: RawItem) -> None:
        scope = self._scope
        await scope.hooks.on_agent_end(scope.hook_context(), agent, output)
        if agent.hooks is not None:
            await agent.hooks.on_end(scope.hook_context(), agent, output)

    async def _store(self, agent: Agent, output: RawItem, message: list[RunItem]) -> None:
        """Run the guardrails and store the output; `message` represents one that no model wrote."""
        scope = self._scope
        try:
            await run_output_guardrails(scope, agent, output)
        except OutputGuardrailTripwireTriggered:
            raise
        except Exception:
            await self._save_message(message)
            raise
        await self._save_message(message)
        self._state.final_output = output
        self._state.has_finished = True
        scope.announce_items(message)

    async def _save_message(self, message: list[RunItem]) -> None:
        """Add a message and store it; remove it again if it cannot be stored."""
        state = self._state
        state.add_items(message)
        try:
            await save_turn(self._scope)
        except BaseException:
            if message:
                del state.generated_items[-len(message) :]
                del state.session_items[-len(message) :]
            raise
