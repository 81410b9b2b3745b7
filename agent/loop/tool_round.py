"""The tools of one answer: run them, commit their results, and hear what hooks say of the lot.

Ends in the state of the next request or in a `Terminal`. Next: `agent.tools.dispatch`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from msgspec.structs import replace

from agent.abort import AbortController, has_fired
from agent.events import AgentEvent, MessageCommitted, Notice
from agent.history import INTERRUPTED_FOR_TOOL_NOTE, INTERRUPTED_NOTE, synthetic_results
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import LoopPorts
from agent.loop.loop_state import LoopState
from agent.messages import ToolUse, tool_results_message, user_message
from agent.tools.call import CallOutcome
from agent.tools.dispatch import Dispatcher

Outcomes = list[tuple[ToolUse, CallOutcome]]


class ToolRound:
    """One answer's calls. Iterate `run`."""

    def __init__(self, ports: LoopPorts, history: LiveHistory, *, max_turns: int) -> None:
        """`history` ends with the answer; `max_turns` counts model responses."""
        self._ports = ports
        self._history = history
        self._max_turns = max_turns

    async def run(
        self, state: LoopState, uses: tuple[ToolUse, ...], abort: AbortController
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        """Yield events, then the next state or a `Terminal`."""
        history = self._history
        turns = state.turn_count + 1
        if abort.signal.aborted:
            yield history.commit(tool_results_message(synthetic_results(uses, INTERRUPTED_NOTE)))
            for event in history.interrupted("aborted_streaming", state, turns=turns):
                yield event
            return
        dispatcher = Dispatcher(
            self._ports.calls, turn_id=history.turn_id, agent_id=history.agent_id
        )
        try:
            async for event in dispatcher.run(uses, abort):
                yield event
                for note in self._ports.hooks.notices():
                    yield note
        finally:
            committed = self._commit_results(uses, dispatcher)
        yield committed
        for event in self._ports.hooks.notices():
            yield event
        outcomes = [
            (use, dispatcher.outcomes[use.id]) for use in uses if use.id in dispatcher.outcomes
        ]
        state = replace(state, messages=history.messages)
        if has_fired(abort.signal):
            for event in history.interrupted("aborted_tools", state, turns=turns):
                yield event
            return
        stopped = next((outcome for _, outcome in outcomes if outcome.ends_turn), None)
        if stopped is not None:
            if stopped.stop_reason:
                yield history.terminal(
                    "stop_hook_prevented", state, stopped.stop_reason, turns=turns
                )
            else:
                for event in history.interrupted(
                    "aborted_tools", state, turns=turns, note=INTERRUPTED_FOR_TOOL_NOTE
                ):
                    yield event
            return
        async for item in self._go_on(state, outcomes, turns, abort):
            yield item

    async def _go_on(
        self, state: LoopState, outcomes: Outcomes, turns: int, abort: AbortController
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        """Commit what goes to the model besides the results, and go round again."""
        history = self._history
        context = [text for _, outcome in outcomes for text in outcome.additional_context]
        batch = await self._ports.hooks.post_tool_batch(outcomes, abort.signal)
        for event in self._ports.hooks.notices():
            yield event
        if batch is not None:
            if batch.additional_context:
                context.append(batch.additional_context)
            if not batch.continue_ or batch.decision in {"block", "deny"}:
                reason = (
                    batch.stop_reason or batch.reason or "a PostToolBatch hook stopped the turn"
                )
                yield history.terminal("stop_hook_prevented", state, reason, turns=turns)
                return
        if context:
            yield history.commit(user_message("\n\n".join(context), origin="hook"))
        if self._ports.after_calls is not None:
            for text in await self._ports.after_calls(outcomes):
                yield history.commit(user_message(text, origin="reminder"))
            for event in self._ports.hooks.notices():
                yield event
        queued = await self._ports.queued()
        for item in queued:
            if isinstance(item, Notice):
                yield replace(item, turn_id=history.turn_id)
            else:
                yield history.commit(item)
        state = replace(state, messages=history.messages)
        if turns >= self._max_turns:
            detail = f"the limit of {self._max_turns} turns is reached"
            yield history.terminal("max_turns", state, detail, turns=turns)
            return
        yield state.advance("queued_prompt" if queued else "next_turn")

    def _commit_results(
        self, uses: tuple[ToolUse, ...], dispatcher: Dispatcher
    ) -> MessageCommitted:
        """Commit one result per call, in call order; calls that never started get a synthetic
        one."""
        blocks = []
        for use in uses:
            outcome = dispatcher.outcomes.get(use.id)
            if outcome is not None:
                blocks.append(outcome.block)
            else:
                blocks.extend(
                    synthetic_results([use], "Not run: the turn ended before this call started.")
                )
        return self._history.commit(tool_results_message(blocks))
