"""Read one response of the model so that an abort ends it at once."""

from __future__ import annotations

import asyncio

from agent.abort import AbortSignal
from agent.model.client import ModelClient, ModelError, ModelEvent, ModelRequest


class StreamReader:
    """Reads the stream in its own task, so that an abort ends a silent connection at once."""

    def __init__(self, client: ModelClient, request: ModelRequest, abort: AbortSignal) -> None:
        """Start reading."""
        self._queue: asyncio.Queue[ModelEvent | ModelError | None] = asyncio.Queue(maxsize=32)
        self._abort = abort
        self._reading = asyncio.ensure_future(self._read(client, request))
        self._watching = asyncio.ensure_future(self._watch())

    async def next(self) -> ModelEvent | None:
        """Return the next event, or None at the end. Raises ModelError."""
        item = await self._queue.get()
        if isinstance(item, ModelError):
            raise item
        return item

    async def aclose(self) -> None:
        """End the connection."""
        for task in (self._reading, self._watching):
            task.cancel()
        await asyncio.wait({self._reading, self._watching})

    async def _read(self, client: ModelClient, request: ModelRequest) -> None:
        try:
            async for event in client.stream(request):
                await self._queue.put(event)
        except ModelError as error:
            await self._queue.put(error)
        else:
            await self._queue.put(None)

    async def _watch(self) -> None:
        """End the reading task after an abort, or after an unexpected failure."""
        abort_wait = asyncio.ensure_future(self._abort.wait())
        try:
            await asyncio.wait({abort_wait, self._reading}, return_when=asyncio.FIRST_COMPLETED)
            if not self._reading.done():
                self._reading.cancel()
                await asyncio.wait({self._reading})
            if self._reading.cancelled():
                await self._queue.put(None)
                return
            error = self._reading.exception()
            if error is not None:
                await self._queue.put(
                    ModelError("malformed", f"{type(error).__name__}: {error}", phase="stream")
                )
        finally:
            abort_wait.cancel()
