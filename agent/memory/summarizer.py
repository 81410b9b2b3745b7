"""Requests a summary from the model itself, with the usual prefix, which the cache serves.

It recovers from failures like any turn, because a user waits for it. Next: `agent.loop.model_turn`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from agent.abort import Aborted, AbortSignal
from agent.events import AgentEvent, ModelFallback, Notice, RetryScheduled, Usage
from agent.loop.model_turn import Answered, Failed, Interrupted, ModelTurn, Recovery
from agent.messages import Message
from agent.model.client import ModelClient, ModelError, ModelRequest
from agent.stream import Emit, TurnEvents

LEAST_CHARACTERS: Final = 400
"""A shorter text before a tool call only announces the call and is not a summary."""


def only_recovery(emit: Emit) -> Emit:
    """Return an `emit` that passes only retries and fallbacks, as the answer is not shown."""

    async def passing(event: AgentEvent) -> None:
        if isinstance(event, RetryScheduled | ModelFallback):
            await emit(event)

    return passing


class SummaryPort(Protocol):
    """Writes a summary of a history."""

    async def summarize(
        self, messages: tuple[Message, ...], ask: Message, abort: AbortSignal
    ) -> str:
        """Return the model's answer to `ask` at the end of the history.

        Raises:
            ModelError: the request failed, or the answer contains no text.
            Aborted: the user interrupted.
        """
        ...


class ModelSummarizer:
    """Requests summaries with the conversation's client and request builder."""

    def __init__(
        self,
        client: ModelClient,
        request: Callable[[tuple[Message, ...]], ModelRequest],
        recovery: Callable[[], Recovery],
        *,
        turn_id: Callable[[], str],
        account: Callable[[Usage, str], Awaitable[None]],
        emit: Emit,
    ) -> None:
        """`request` builds a normal request, `recovery` is called for each summary; `account` is
        called with the usage and the model, `emit` with retries and fallbacks."""
        self._client = client
        self._request = request
        self._recovery = recovery
        self._turn_id = turn_id
        self._account = account
        self._emit = emit

    async def summarize(
        self, messages: tuple[Message, ...], ask: Message, abort: AbortSignal
    ) -> str:
        """See `SummaryPort`."""
        words = "Summarizing the conversation to make room…"
        await self._emit(Notice(self._turn_id(), "info", words))
        turn = ModelTurn(
            self._client,
            self._recovery(),
            self._request((*messages, ask)),
            TurnEvents(only_recovery(self._emit), self._turn_id()),
            step=0,
        )
        match await turn.run(abort):
            case Answered() as answer:
                await self._account(answer.usage, answer.message.model or "")
                text = answer.message.text.strip()
                if not text or (len(text) < LEAST_CHARACTERS and answer.message.tool_uses()):
                    raise ModelError("malformed", "The model wrote no summary.", phase="stream")
                return text
            case Failed() as failure:
                raise failure.error
            case Interrupted():
                raise Aborted(abort.reason or "interrupted")
