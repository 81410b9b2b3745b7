"""Run the calls of one answer, commit their results, and fire the hooks of the batch.

Ends in the state of the next request or in a `Terminal`. Next: `agent.tools.dispatch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.abort import AbortController, has_fired
from agent.events import AgentEvent, Notice, Terminal
from agent.history import INTERRUPTED_FOR_TOOL_NOTE, INTERRUPTED_NOTE, synthetic_results
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import LoopPorts
from agent.loop.loop_state import LoopState
from agent.loop.stop_check import turn_limit_text
from agent.messages import Message, ToolUse, tool_results_message, user_message
from agent.stream import TurnEvents
from agent.tools.call import CallOutcome
from agent.tools.result_room import ResultRoom
from hooks.answers.outcome import EventOutcome

if TYPE_CHECKING:
    from agent.tools.dispatch import Dispatcher


Outcomes = list[tuple[ToolUse, CallOutcome]]


class ToolRound:
    """One answer's calls. Await `run`."""

    def __init__(
        self, ports: LoopPorts, history: LiveHistory, events: TurnEvents, *, max_turns: int
    ) -> None:
        """`history` ends with the answer; `max_turns` limits the rounds."""
        self._ports = ports
        self._history = history
        self._events = events
        self._max_turns = max_turns

    async def run(
        self, state: LoopState, uses: tuple[ToolUse, ...], abort: AbortController
    ) -> LoopState | Terminal:
        """Run the calls and commit their results; return the next state or the end."""
        from agent.tools.dispatch import Dispatcher  # imported with the first call

        history = self._history
        turns = state.turn_count + 1
        if turns > self._max_turns:
            detail = turn_limit_text(self._max_turns)
            await history.commit(
                tool_results_message(synthetic_results(uses, f"Not run: {detail}."))
            )
            return history.terminal("max_turns", state, detail)
        if abort.signal.aborted:
            await history.commit(tool_results_message(synthetic_results(uses, INTERRUPTED_NOTE)))
            return await history.record_interruption("aborted_streaming", state, turns=turns)
        if self._ports.context is not None:
            room = ResultRoom(self._ports.context.round_tokens(), len(uses))
            self._ports.calls.services.room = room
        dispatcher = Dispatcher(
            self._ports.calls, replace(self._events, emit=self._emit_with_hook_events)
        )
        try:
            await dispatcher.run(uses, abort)
        except BaseException:
            history.append(_results(uses, dispatcher))
            raise
        await history.commit(_results(uses, dispatcher))
        await self._emit_hook_events()
        outcomes = [
            (use, dispatcher.outcomes[use.id]) for use in uses if use.id in dispatcher.outcomes
        ]
        if has_fired(abort.signal):
            return await history.record_interruption("aborted_tools", state, turns=turns)
        stop = next((outcome for _, outcome in outcomes if outcome.ends_turn), None)
        if stop is None:
            return await self._next_state(state, outcomes, turns, abort)
        if stop.stop_reason:
            return history.terminal("stop_hook_prevented", state, stop.stop_reason, turns=turns)
        return await history.record_interruption(
            "aborted_tools", state, turns=turns, note=INTERRUPTED_FOR_TOOL_NOTE
        )

    async def _next_state(
        self, state: LoopState, outcomes: Outcomes, turns: int, abort: AbortController
    ) -> LoopState | Terminal:
        """Commit further messages for the model, and return the state of the next request."""
        history = self._history
        batch = await self._ports.hooks.post_tool_batch(outcomes, abort.signal)
        await self._emit_hook_events()
        if batch is not None and (not batch.continue_ or batch.decision in {"block", "deny"}):
            reason = batch.stop_reason or batch.reason or "a PostToolBatch hook stopped the turn"
            return history.terminal("stop_hook_prevented", state, reason, turns=turns)
        await self._commit_context(outcomes, batch)
        has_queued = await self.commit_queued()
        return state.advance("queued_prompt" if has_queued else "next_turn")

    async def _commit_context(self, outcomes: Outcomes, batch: EventOutcome | None) -> None:
        """Commit texts for the model from hooks, and about the paths that were used."""
        context = [text for _, outcome in outcomes for text in outcome.additional_context]
        if batch is not None and batch.additional_context:
            context.append(batch.additional_context)
        if context:
            await self._history.commit(user_message("\n\n".join(context), origin="hook"))
        if self._ports.after_calls is not None:
            for text in await self._ports.after_calls(outcomes):
                await self._history.commit(user_message(text, origin="reminder"))
            await self._emit_hook_events()

    async def commit_queued(self) -> bool:
        """Commit the prompts that join the turn; return whether there were any."""
        items = await self._ports.take_queue()
        for item in items:
            if isinstance(item, Notice):
                await self._events.emit(replace(item, turn_id=self._events.turn_id))
            else:
                await self._history.commit(item)
        return bool(items)

    async def _emit_with_hook_events(self, event: AgentEvent) -> None:
        await self._events.emit(event)
        for notice in self._ports.hooks.notices():
            await self._events.emit(notice)

    async def _emit_hook_events(self) -> None:
        await self._events.emit_all(self._ports.hooks.notices())


def _results(uses: tuple[ToolUse, ...], dispatcher: Dispatcher) -> Message:
    """Return one result per call, in call order; calls that never started get a synthetic one."""
    blocks = []
    for use in uses:
        outcome = dispatcher.outcomes.get(use.id)
        if outcome is not None:
            blocks.append(outcome.block)
        else:
            blocks.extend(synthetic_results([use], "Skipped (turn stopped)."))
    return tool_results_message(blocks)
