"""Background handlers: owned here, with their results stored for the next turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from hooks.answers.outcome import notices_of
from hooks.answers.response import HandlerOutcome, HandlerResult
from hooks.config.spec import CommandHandler, HandlerSpec


class BackgroundDelivery(Struct, frozen=True):
    """Results of background handlers since the last call; their decisions have no effect."""

    additional_context: tuple[str, ...] = ()
    system_messages: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    wake: tuple[str, ...] = ()
    """Texts of `asyncRewake` hooks that ended with status 2: the model receives them at once."""
    results: tuple[HandlerResult, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything ended."""
        return bool(self.results)


class _Owned(Struct, frozen=True):
    spec: HandlerSpec
    on_end: Callable[[HandlerResult], None]


class BackgroundHandlers:
    """The background handlers of one session. `close` ends them all and waits for it."""

    def __init__(self, cap: Callable[[HandlerResult], HandlerResult]) -> None:
        """`cap` bounds the texts of a result before any caller receives them."""
        self._cap = cap
        self._running: dict[asyncio.Task[HandlerResult], _Owned] = {}
        self._results: list[HandlerResult] = []
        self._arrival = asyncio.Event()
        self.on_wake: Callable[[], None] = lambda: None
        """Called when a handler ended that makes the model continue."""

    @property
    def has_wake(self) -> bool:
        """Whether `take` will return something that the model receives at once."""
        return any(_wake_text(result) for result in self._results)

    @property
    def running(self) -> int:
        """The number of running handlers."""
        return len(self._running)

    def own(
        self,
        task: asyncio.Task[HandlerResult],
        spec: HandlerSpec,
        on_end: Callable[[HandlerResult], None],
    ) -> None:
        """Take over a running handler; `on_end` receives its result."""
        self._running[task] = _Owned(spec, on_end)
        task.add_done_callback(self._on_done)

    async def wait(self) -> None:
        """Wait until there is a result that `take` has not returned."""
        await self._arrival.wait()

    def take(self) -> BackgroundDelivery:
        """Return the results since the last call."""
        results, self._results = tuple(self._results), []
        self._arrival.clear()
        answers = [result.answer for result in results]
        return BackgroundDelivery(
            additional_context=tuple(a.additional_context for a in answers if a.additional_context),
            system_messages=tuple(a.system_message for a in answers if a.system_message),
            notices=tuple(line for result in results for line in notices_of(result)),
            wake=tuple(text for text in map(_wake_text, results) if text),
            results=results,
        )

    async def close(self, wait_s: float = 0.0) -> None:
        """Wait `wait_s` seconds for handlers, then cancel them; return when all have ended."""
        if self._running and wait_s > 0:
            await asyncio.wait(list(self._running), timeout=wait_s)
        for task in self._running:
            task.cancel()
        # Its own callbacks run after `_on_done`, so nothing is left here afterwards.
        await asyncio.gather(*self._running, return_exceptions=True)

    def _on_done(self, task: asyncio.Task[HandlerResult]) -> None:
        entry = self._running.pop(task)
        if task.cancelled() or task.exception() is not None:
            error = "ended with the session before it finished"
            result = HandlerResult(entry.spec, HandlerOutcome.CANCELLED, error=error)
        else:
            result = task.result()
        entry.on_end(result)
        self._results.append(self._cap(result))
        self._arrival.set()
        if _wake_text(result):
            self.on_wake()


def _wake_text(result: HandlerResult) -> str | None:
    handler = result.spec.handler
    if not isinstance(handler, CommandHandler) or not handler.async_rewake:
        return None
    if result.exit_code != 2 or result.outcome is HandlerOutcome.CANCELLED:
        return None
    return result.stderr.strip() or result.stdout.strip() or None
