"""A server that sends without end: it is stopped, whatever it sends and however it is cut."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest
from anthropic import AsyncStream
from hypothesis import given
from hypothesis import strategies as st

from agent.model import connection as limits
from agent.model.client import ModelError
from agent.model.connection import BoundedEvents, bound_body


async def cut(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(size=st.integers(1, 40), end=st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"]))
async def test_many_events_pass_and_one_without_an_end_does_not(size: int, end: bytes) -> None:
    event = b"data: " + b"x" * 20 + end
    whole = event * 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MAX_EVENT_BYTES", 70)
        response = httpx2.Response(200, content=cut(whole, size))
        assert b"".join([b async for b in BoundedEvents(response).aiter_bytes()]) == whole
        response = httpx2.Response(200, content=cut(whole + b"data: " + b"x" * 200, size))
        with pytest.raises(ModelError, match="sent an event of more than"):
            async for _ in BoundedEvents(response).aiter_bytes():
                pass


async def test_the_parser_asks_for_bytes_only() -> None:
    response = httpx2.Response(200, content=cut(b"event: ping\ndata: {}\n\n", 3))
    events = AsyncStream.raw_events(BoundedEvents(response))  # type: ignore[arg-type]
    assert [(each.event, each.data) async for each in events] == [("ping", "{}")]


async def test_an_answer_without_an_end_is_refused_and_a_stream_is_not_counted() -> None:
    endless = b"x" * (limits.MAX_BODY_BYTES + 1)
    response = httpx2.Response(400, content=cut(endless, 1 << 20))
    await bound_body(response)
    with pytest.raises(ModelError, match="sent an answer of more than 16 MB") as caught:
        await response.aread()
    assert caught.value.phase == "headers"
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    response = httpx2.Response(200, headers=headers, content=cut(endless, 1 << 20))
    await bound_body(response)
    assert len(await response.aread()) == len(endless)
