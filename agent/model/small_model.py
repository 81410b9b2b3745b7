"""One question to the small model: no tools, no history, no hooks (for WebFetch, hooks, titles)."""

from __future__ import annotations

from collections.abc import Callable

from agent.abort import AbortController, AbortSignal
from agent.events import Usage
from agent.messages import text_block, user_message
from agent.model.client import ModelClient, ModelError, ModelRequest
from agent.model.endpoint import expand_alias
from agent.model.message_builder import MessageBuilder


class SmallModel:
    """Asks the small model; implements the small-model ports of tools and hooks."""

    def __init__(
        self,
        client: ModelClient,
        model: Callable[[], str],
        *,
        account: Callable[[Usage, str], None] = lambda *_: None,
    ) -> None:
        """`model` returns the name of the model, read for every question; `account` is called with
        each answer's usage and model."""
        self._client = client
        self._model = model
        self._account = account

    async def ask(self, *, system: str, prompt: str, max_tokens: int, abort: AbortSignal) -> str:
        """Return the answer's text.

        Raises:
            ModelError: the request failed; it is not retried.
            Aborted: the signal fired first.
        """
        return await abort.race(self._answer(system, prompt, max_tokens, None))

    async def for_hooks(self, prompt: str, *, system: str, model: str | None) -> str:
        """Return the answer to a prompt hook's question. Raises ModelError for any failure."""
        return await AbortController().signal.race(self._answer(system, prompt, 2_000, model))

    async def _answer(self, system: str, prompt: str, max_tokens: int, model: str | None) -> str:
        fold = MessageBuilder()
        request = ModelRequest(
            model=expand_alias(model) if model else self._model(),
            system=(text_block(system),) if system else (),
            tools=(),
            messages=(user_message(prompt),),
            max_tokens=max_tokens,
            thinking=False,
        )
        async for event in self._client.stream(request):
            fold.feed(event)
        self._account(fold.usage, fold.message().model or request.model)
        if not fold.complete:
            raise ModelError("cut", "The answer ended before it was whole.", phase="stream")
        return fold.message().text
