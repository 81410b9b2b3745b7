"""How much of an answer is taken: a server that sends without end must not fill memory.

The parser of events copies what it has so far with each piece, so a line without an end would
also hold up the whole program.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Final, Literal, cast

from agent.model.client import ModelError

if TYPE_CHECKING:
    import httpx2

MAX_BODY_BYTES: Final = 16_000_000
"""Largest answer that is no stream, such as an error; as it comes over the line."""
MAX_EVENT_BYTES: Final = 16_000_000
"""Largest single event of a stream, unpacked; those of real models stay below a megabyte."""

_ENDS: Final = (b"\n\n", b"\r\r", b"\r\n\r\n")


async def bound_body(response: httpx2.Response) -> None:
    """Give the body of an answer an end, unless it is a stream of events; a response hook."""
    import httpx2  # loaded: there is an answer

    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return
    body = cast("httpx2.AsyncByteStream", response.stream)

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for piece in body:
                taken += len(piece)
                if taken > MAX_BODY_BYTES:
                    raise _too_large("an answer", MAX_BODY_BYTES, "headers")
                yield piece

        async def aclose(self) -> None:
            await body.aclose()

    response.stream = Bounded()


class BoundedEvents:
    """A response whose events end, as far as the SDK's parser is concerned."""

    def __init__(self, response: httpx2.Response) -> None:
        """Nothing is read yet."""
        self._response = response

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of the stream. Raises ModelError where an event has no end."""
        held = 0
        tail = b""
        async for piece in self._response.aiter_bytes():
            # The end of an event may lie across two pieces.
            seen = tail + piece
            end = max(seen.rfind(each) for each in _ENDS)
            held = held + len(piece) if end < 0 else len(seen) - end
            if held > MAX_EVENT_BYTES:
                raise _too_large("an event", MAX_EVENT_BYTES, "stream")
            tail = seen[-3:]
            yield piece


def _too_large(what: str, limit: int, phase: Literal["headers", "stream"]) -> ModelError:
    text = f"The server sent {what} of more than {limit // 1_000_000} MB."
    return ModelError("malformed", text, phase=phase)
