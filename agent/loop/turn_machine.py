"""The agent loop itself: a state machine whose steps return the next state, or the end of a run.

Await the model's answer; run its calls and go round again, or end. Which answer leads where, and
how often, is decided here and nowhere else; what an answer, a history and an end are is up to the
`Rounds` that it drives: messages of the program (`agent.loop.loop`), or items of the library's
runs (`agent.library.running.engine`). Source: the pattern "agent-loop".
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
    """What the machine has to know of an answer."""

    @property
    def stop_reason(self) -> str | None:
        """Why it ended, as the Messages API says it; None where that is not known."""
        ...

    @property
    def has_calls(self) -> bool:
        """Whether calls are to be run."""
        ...

    @property
    def has_content(self) -> bool:
        """Whether anything of it stays in the history."""
        ...


AnswerT = TypeVar("AnswerT", bound=AnswerLike)
EndT = TypeVar("EndT")


class TooLong(Struct, frozen=True):
    """The history no longer fits the model's window, and nothing makes it shorter."""

    detail: str
    """How that was found."""
    error: ModelError | None
    """None where an answer ended for it."""


class Ended(Struct, Generic[EndT], frozen=True):
    """A run that ends before there is an answer."""

    end: EndT


class Rounds(Protocol[AnswerT, EndT]):
    """The steps of one kind of run. Each that returns a state or an end decides what is next."""

    async def prepare_round(self, state: LoopState) -> LoopState | EndT:
        """Decide whether there may be another request, and prepare it."""
        ...

    async def carry_out(
        self, state: LoopState, step: Callable[[LoopState], Awaitable[LoopState | EndT]]
    ) -> LoopState | EndT:
        """Await a step: a request with what follows from its answer."""
        ...

    async def ask(self, state: LoopState) -> AnswerT | Failed | Ended[EndT]:
        """Return the model's next answer, which is in the history then."""
        ...

    async def run_calls(self, state: LoopState, answer: AnswerT) -> LoopState | EndT:
        """Run the calls of an answer."""
        ...

    async def finish(self, state: LoopState, answer: AnswerT) -> LoopState | EndT:
        """End after an answer without calls, unless something has the run continue.

        Its stop reason says more: `refusal`; `pause_turn` where the endpoint interrupts its own
        work again and again; `max_tokens` where it was cut again and again.
        """
        ...

    async def fail(self, state: LoopState, why: Failed | TooLong) -> EndT:
        """End after no answer could be had."""
        ...

    async def make_room(self) -> bool:
        """Shorten the history that the endpoint found too long; return whether that was done."""
        ...

    async def remark(self, text: str) -> None:
        """Add a message that has the model continue."""
        ...


class TurnMachine(Generic[AnswerT, EndT]):
    """Drives one run. Await `run`."""

    def __init__(self, rounds: Rounds[AnswerT, EndT]) -> None:
        """`rounds` carry out what is decided here."""
        self._rounds = rounds

    async def run(self, state: LoopState | EndT) -> EndT:
        """Continue from a state until the end, and return that."""
        rounds = self._rounds
        while isinstance(state, LoopState):
            if state.transition is not None:
                _LOG.debug("next request: %s", state.transition.reason)
            state = await rounds.prepare_round(state)
            if isinstance(state, LoopState):
                state = await rounds.carry_out(state, self._step)
        return state

    async def _step(self, state: LoopState) -> LoopState | EndT:
        """Take one answer and do what it asks for."""
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
                    # Endpoints refuse a request that ends with an answer begun.
                    await rounds.remark(CONTINUATION)
                return await self._after_overflow(state, "the context window is full")
        return await rounds.finish(state, answer)

    async def _after_failure(self, state: LoopState, result: Failed) -> LoopState | EndT:
        if result.failure.kind is not FailureKind.CONTEXT_OVERFLOW:
            return await self._rounds.fail(state, result)
        # In the server's words: ours come around them.
        server_words = " ".join(str(result.error).split())
        return await self._after_overflow(
            state, server_words or result.failure.message, result.error
        )

    async def _after_overflow(
        self, state: LoopState, detail: str, error: ModelError | None = None
    ) -> LoopState | EndT:
        """Shorten and try again, else end: how often is up to the rounds."""
        if await self._rounds.make_room():
            return state.advance("reactive_compact_retry")
        return await self._rounds.fail(state, TooLong(detail, error))
