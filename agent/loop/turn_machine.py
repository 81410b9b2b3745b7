"""The agent loop itself: a state machine whose steps return the next state, or the end of a run.

It awaits the model's answer, then runs its calls and repeats, or ends. All transitions and their
limits are decided here; the types of answers, history and ends are defined by the `Rounds` that it
drives: messages of the program (`agent.loop.loop`), or items of the library's runs
(`agent.library.running.engine`). Source: the pattern "agent-loop".
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct

from agent.loop.loop_state import LoopState
from agent.loop.model_turn import Failed
from agent.model.client import ModelError
from agent.recovery.classify import FailureKind

MAX_OUTPUT_RECOVERIES: Final = 3
MAX_PAUSES: Final = 10
CONTINUATION: Final = (
    "Your answer was cut off by the output limit. Continue exactly where it stopped, without "
    "repeating or apologizing."
)
_LOG: Final = logging.getLogger(__name__)


class AnswerLike(Protocol):
    """What the machine needs to know about an answer."""

    @property
    def stop_reason(self) -> str | None:
        """The stop reason, as in the Messages API; None if unknown."""
        ...

    @property
    def has_calls(self) -> bool:
        """Whether there are calls to run."""
        ...

    @property
    def has_content(self) -> bool:
        """Whether it has content for the history."""
        ...


AnswerT = TypeVar("AnswerT", bound=AnswerLike)
EndT = TypeVar("EndT")


class TooLong(Struct, frozen=True):
    """The history no longer fits the model's window and cannot be shortened."""

    detail: str
    """How this was detected."""
    error: ModelError | None
    """The endpoint's error; None if an answer ended because of the window."""


class Ended(Struct, Generic[EndT], frozen=True):
    """A run that ended before there was an answer."""

    end: EndT


class Rounds(Protocol[AnswerT, EndT]):
    """The steps of one kind of run; a step returns the next state or the end of the run."""

    async def prepare_round(self, state: LoopState) -> LoopState | EndT:
        """Decide whether there may be another request, and prepare it."""
        ...

    async def carry_out(
        self, state: LoopState, step: Callable[[LoopState], Awaitable[LoopState | EndT]]
    ) -> LoopState | EndT:
        """Await a step: a request and the handling of its answer."""
        ...

    async def ask(self, state: LoopState) -> AnswerT | Failed | Ended[EndT]:
        """Return the model's next answer, after adding it to the history."""
        ...

    async def run_calls(self, state: LoopState, answer: AnswerT) -> LoopState | EndT:
        """Run the calls of an answer."""
        ...

    async def finish(self, state: LoopState, answer: AnswerT) -> LoopState | EndT:
        """End after an answer without calls, unless something makes the run continue.

        The stop reason may be `refusal`; `pause_turn` if the endpoint paused too often; or
        `max_tokens` if the answer was cut off too often.
        """
        ...

    async def fail(self, state: LoopState, why: Failed | TooLong) -> EndT:
        """End the run because there is no answer."""
        ...

    async def make_room(self) -> bool:
        """Shorten a history that the endpoint rejected as too long; return whether it changed."""
        ...

    async def remark(self, text: str) -> None:
        """Add a message that asks the model to continue."""
        ...


class TurnMachine(Generic[AnswerT, EndT]):
    """Drives one run. Await `run`."""

    def __init__(self, rounds: Rounds[AnswerT, EndT]) -> None:
        """`rounds` carries out the steps."""
        self._rounds = rounds

    async def run(self, state: LoopState | EndT) -> EndT:
        """Run from a state to the end, and return the end."""
        rounds = self._rounds
        while isinstance(state, LoopState):
            if state.transition is not None:
                _LOG.debug("next request: %s", state.transition.reason)
            state = await rounds.prepare_round(state)
            if isinstance(state, LoopState):
                state = await rounds.carry_out(state, self._step)
        return state

    async def _step(self, state: LoopState) -> LoopState | EndT:
        """Get one answer and handle it."""
        result = await self._rounds.ask(state)
        if isinstance(result, Ended):
            end: EndT = result.end
            return end
        if isinstance(result, Failed):
            return await self._after_failure(state, result)
        return await self._after_answer(state, result)

    async def _after_answer(self, state: LoopState, answer: AnswerT) -> LoopState | EndT:
        rounds = self._rounds
        if answer.has_calls and answer.stop_reason != "refusal":
            return await rounds.run_calls(state, answer)
        match answer.stop_reason:
            case "pause_turn":
                if state.pause_count < MAX_PAUSES:
                    return state.advance("pause_turn")
            case "max_tokens":
                if state.recovery_count < MAX_OUTPUT_RECOVERIES:
                    await rounds.remark(CONTINUATION)
                    return state.advance("max_output_tokens_recovery")
            case "model_context_window_exceeded":
                if answer.has_content:
                    # Endpoints reject a request that ends with a partial answer.
                    await rounds.remark(CONTINUATION)
                return await self._after_overflow(state, "the context window is full")
        return await rounds.finish(state, answer)

    async def _after_failure(self, state: LoopState, result: Failed) -> LoopState | EndT:
        if result.failure.kind is not FailureKind.CONTEXT_OVERFLOW:
            return await self._rounds.fail(state, result)
        # The server's own text, which is embedded in a message later.
        server_words = " ".join(str(result.error).split())
        return await self._after_overflow(
            state, server_words or result.failure.message, result.error
        )

    async def _after_overflow(
        self, state: LoopState, detail: str, error: ModelError | None = None
    ) -> LoopState | EndT:
        """Shorten the history and try again, or end if `make_room` did nothing."""
        if await self._rounds.make_room():
            return state.advance("reactive_compact_retry")
        return await self._rounds.fail(state, TooLong(detail, error))
