"""The end of a prompt after an answer without calls, unless something makes it continue."""

from __future__ import annotations

from agent.abort import AbortSignal, has_fired
from agent.events import Terminal
from agent.loop.answer_schema import MAX_CORRECTIONS, AnswerSchema, correction
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import MailPort, TurnHooks
from agent.loop.loop_state import LoopState
from agent.loop.token_budget import BudgetTracker, ContinueBudget, check_token_budget
from agent.messages import user_message
from agent.stream import TurnEvents
from hooks.answers.outcome import EventOutcome


class TurnEnd:
    """Decides whether a prompt is done. Await `run` for each answer without calls."""

    def __init__(
        self,
        hooks: TurnHooks,
        history: LiveHistory,
        events: TurnEvents,
        *,
        max_turns: int,
        answer: AnswerSchema | None = None,
        token_budget: int | None = None,
        mail: MailPort | None = None,
    ) -> None:
        """`answer` is the schema of the last answer; `token_budget` counts output tokens.

        `max_turns` limits the rounds with tool calls and those that a Stop hook continues.
        """
        self._max_turns = max_turns
        self._answer = answer
        self._mail = mail
        self._hooks = hooks
        self._history = history
        self._events = events
        self._budget = BudgetTracker(token_budget) if token_budget else None

    async def run(
        self, state: LoopState, text: str, output_tokens: int, signal: AbortSignal
    ) -> LoopState | Terminal:
        """Return the next state or the end.

        Args:
            state: before this answer was counted.
            text: the answer.
            output_tokens: of the whole prompt so far.
            signal: of the prompt.
        """
        history = self._history
        turns = state.turn_count + 1
        if signal.aborted:
            return await history.record_interruption("aborted_streaming", state)
        if self._mail is not None:
            if await self._mail.more(signal):
                return state.advance("mail")
            if has_fired(signal):
                return await history.record_interruption("aborted_streaming", state)
        outcome = await self._hooks.stop(text, active=state.stop_hook_blocks > 0, abort=signal)
        await self._events.emit_all(self._hooks.notices())
        if outcome is not None and not outcome.continue_:
            reason = outcome.stop_reason or ""
            return history.terminal("stop_hook_prevented", state, reason, turns=turns)
        feedback = stop_feedback(outcome)
        if feedback and turns > self._max_turns:
            return history.terminal("max_turns", state, turn_limit_text(self._max_turns))
        if feedback:
            await history.commit(user_message(feedback, origin="hook"))
            return state.advance("stop_hook_blocking", detail=feedback[:200])
        complaint = self._answer.complaint(text) if self._answer is not None else None
        if complaint is not None:
            return await self._request_correction(state, complaint)
        if self._budget is not None:
            verdict = check_token_budget(self._budget, output_tokens)
            if isinstance(verdict, ContinueBudget):
                self._budget = verdict.tracker
                await history.commit(user_message(verdict.nudge, origin="continuation"))
                return state.advance("token_budget_continuation")
        if not text.strip():
            # Otherwise the turn would end without any visible change.
            await self._events.notice("info", "The model ended its answer without any text.")
        return history.terminal("completed", state, turns=turns)

    async def _request_correction(self, state: LoopState, complaint: str) -> LoopState | Terminal:
        """Ask the model for a corrected answer, `MAX_CORRECTIONS` times at most."""
        if state.corrections >= MAX_CORRECTIONS:
            detail = f"the answer does not follow the JSON schema: {complaint}"
            return self._history.terminal(
                "invalid_answer", state, detail, turns=state.turn_count + 1
            )
        await self._history.commit(user_message(correction(complaint), origin="continuation"))
        return state.advance("answer_correction", detail=complaint[:200])


def turn_limit_text(max_turns: int) -> str:
    """Return why a prompt ends at its limit."""
    return f"Reached maximum number of turns ({max_turns})"


def stop_feedback(outcome: EventOutcome | None) -> str:
    """Return the text that makes the model continue; empty if the stop proceeds.

    The hook engine limits how often in a row this happens.
    """
    if outcome is None or outcome.proceeds is not False:
        return ""
    block_reason = outcome.reason if outcome.decision in {"block", "deny"} else None
    return "\n".join(text for text in (block_reason, outcome.additional_context) if text)
