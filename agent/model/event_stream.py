"""Server-sent events: splits the bytes of a response into events.

Next: `agent.model.anthropic`, `agent.model.providers.wire_client` (interpret the events).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Final

from msgspec import Struct

from agent.model.client import ModelError
from permissions.base.text.strict_json import load_json

MAX_EVENT_BYTES: Final = 16_000_000
"""Largest single event, after decompression; those of real models stay below a megabyte."""


DRAIN_TIMEOUT_S: Final = 0.5


class ServerEvent(Struct, frozen=True):
    """One event; name and data are empty for a comment, which servers send as a keep-alive."""

    name: str = ""
    data: str = ""


async def server_events(pieces: AsyncIterator[bytes]) -> AsyncGenerator[ServerEvent, None]:
    """Yield the events of a stream; an incomplete event at its end is dropped.

    Raises:
        ModelError: an event exceeds `MAX_EVENT_BYTES`, or its bytes are not UTF-8.
    """
    lines = _Lines()
    event: list[bytes] = []
    size = 0
    async for piece in pieces:
        for line in lines.of(piece):
            if line:
                event.append(line)
                size += len(line)
            elif event:
                yield _event(event)
                event, size = [], 0
        if size + lines.open_bytes > MAX_EVENT_BYTES:
            text = f"The server sent an event of more than {MAX_EVENT_BYTES // 1_000_000} MB."
            raise ModelError("malformed", text, phase="stream")


async def with_progress(
    events: AsyncIterator[ServerEvent], progress_s: float
) -> AsyncGenerator[ServerEvent, None]:
    """Yield the events that carry data; skip comments and pings.

    Raises:
        ModelError: only comments and pings arrived for `progress_s` seconds.
    """
    progress_at = time.monotonic()
    async for event in events:
        if event.data and event.name != "ping":
            progress_at = time.monotonic()
            yield event
        elif time.monotonic() - progress_at > progress_s:
            text = f"The server sent only keep-alives for {progress_s:g} s."
            raise ModelError("stalled", text, phase="stream")


async def drain(events: AsyncIterator[object]) -> None:
    """Read to the end of a complete response, so that its connection can be reused."""
    # The response is complete: a failure here does not matter.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(DRAIN_TIMEOUT_S):
            async for _ in events:
                pass


def event_record(event: ServerEvent) -> Mapping[str, object]:
    """Return the JSON object of an event; empty for any other JSON value.

    Raises:
        ModelError: the data is not JSON.
    """
    try:
        data = load_json(event.data)
    except ValueError as error:
        text = "The server sent an event that is not JSON."
        raise ModelError("malformed", text, phase="stream") from error
    return data if isinstance(data, dict) else {}


class _Lines:
    """Splits bytes into lines that end in LF, CR or CRLF."""

    def __init__(self) -> None:
        self._open_pieces: list[bytes] = []
        self._after_cr = False
        self.open_bytes = 0
        """Size of the line that is still incomplete."""

    def of(self, piece: bytes) -> list[bytes]:
        """Return the lines that a piece completes, without line endings."""
        if self._after_cr and piece:
            piece = piece.removeprefix(b"\n")
        lines: list[bytes] = []
        for line in piece.splitlines(keepends=True):
            self._after_cr = line.endswith(b"\r")
            if not line.endswith((b"\n", b"\r")):
                self._open_pieces.append(line)
                self.open_bytes += len(line)
                break
            lines.append(b"".join((*self._open_pieces, line.rstrip(b"\r\n"))))
            self._open_pieces, self.open_bytes = [], 0
        return lines


def _event(lines: list[bytes]) -> ServerEvent:
    name, data = "", []
    try:
        for line in lines:
            field, _, value = line.decode("utf-8").partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                name = value
            elif field == "data":
                data.append(value)
    except UnicodeDecodeError as error:
        text = "The server sent bytes that are not UTF-8."
        raise ModelError("malformed", text, phase="stream") from error
    return ServerEvent(name, "\n".join(data))
