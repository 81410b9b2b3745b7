"""A server that sends without end: it is stopped, whatever it sends and however it is cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from agent.model import connection as limits
from agent.model.client import ModelError
from agent.model.connection import bound_body


async def cut(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def test_an_answer_without_an_end_is_refused_and_a_stream_is_not_counted() -> None:
    endless = b"x" * (limits.MAX_BODY_BYTES + 1)
    response = httpx2.Response(200, content=cut(endless, 1 << 20))
    await bound_body(response, 9.0)
    with pytest.raises(ModelError, match="sent an answer of more than 16 MB") as caught:
        await response.aread()
    assert caught.value.phase == "headers"
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    response = httpx2.Response(200, headers=headers, content=cut(endless, 1 << 20))
    await bound_body(response, 9.0)
    assert len(await response.aread()) == len(endless)


async def test_an_error_without_an_end_is_read_as_far_as_it_came() -> None:
    response = httpx2.Response(529, content=cut(b"x" * (limits.MAX_ERROR_BYTES + 9), 1 << 16))
    await bound_body(response, 9.0)
    assert len(await response.aread()) == limits.MAX_ERROR_BYTES

    async def silent() -> AsyncIterator[bytes]:
        yield b"some"
        await asyncio.Event().wait()

    response = httpx2.Response(529, content=silent())
    await bound_body(response, 0.05)
    assert await response.aread() == b"some"
