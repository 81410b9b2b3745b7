"""A summary asked of the model itself, behind the usual prefix, so that the cache serves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agent.abort import AbortSignal
from agent.messages import Message
from agent.model.client import ModelClient, ModelError, ModelRequest
from agent.model.fold import MessageFold


class SummaryPort(Protocol):
    """Writes a summary of a history."""

    async def summarise(
        self, messages: tuple[Message, ...], ask: Message, abort: AbortSignal
    ) -> str:
        """Return the model's answer to `ask` at the end of the history.

        Raises:
            ModelError: the request failed, or the answer holds no text.
            Aborted: the person interrupted.
        """
        ...


class ModelSummariser:
    """Asks through the conversation's own client and request builder."""

    def __init__(
        self,
        client: ModelClient,
        request: Callable[[tuple[Message, ...]], ModelRequest],
        *,
        account: Callable[[MessageFold], None] | None = None,
    ) -> None:
        """`request` builds as for any turn; `account` hears what the answer used."""
        self._client = client
        self._request = request
        self._account = account

    async def summarise(
        self, messages: tuple[Message, ...], ask: Message, abort: AbortSignal
    ) -> str:
        """See `SummaryPort`."""
        return await abort.race(self._ask((*messages, ask)))

    async def _ask(self, messages: tuple[Message, ...]) -> str:
        fold = MessageFold()
        async for event in self._client.stream(self._request(messages)):
            fold.feed(event)
        if self._account is not None:
            self._account(fold)
        text = fold.message().text.strip()
        if not fold.complete or not text:
            raise ModelError("malformed", "The model wrote no summary.", phase="stream")
        return text
