"""Server-sent events are read whole, however they are cut; the vendor's SDK reads the same."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.model import event_stream
from agent.model.client import ModelError
from agent.model.event_stream import server_events

END = st.sampled_from(["\n", "\r\n", "\r"])
LINES = st.sampled_from(
    ["event: ping", "event:a", "data: {}", "data: größe 世", "data:", "data", ": hello", "x: y", ""]
)


async def cut(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def read(data: bytes, size: int) -> list[tuple[str, str]]:
    return [(event.name, event.data) async for event in server_events(cut(data, size))]


@given(lines=st.lists(LINES, max_size=12), end=END, size=st.integers(1, 40))
@example(lines=["data: a", "", "data: b", ""], end="\r", size=8)
@example(lines=["data: a", "", "data: b", ""], end="\r\n", size=9)
async def test_the_sdk_reads_the_same(lines: list[str], end: str, size: int) -> None:
    from anthropic import AsyncStream  # here: it takes as long as all other imports of a test

    data = "".join(line + end for line in lines).encode()
    response = httpx2.Response(200, content=cut(data, size))
    by_sdk = [(each.event or "", each.data) async for each in AsyncStream.raw_events(response)]
    # A comment alone is a sign of life here, and nothing there.
    assert [event for event in await read(data, size) if event != ("", "")] == [
        event for event in by_sdk if event != ("", "")
    ]


async def test_comments_are_signs_of_life_and_what_has_no_end_is_no_event() -> None:
    assert await read(b": wait\n\ndata: a\ndata: b\n\ndata: c\n", 5) == [("", ""), ("", "a\nb")]


@given(size=st.integers(1, 40), end=st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"]))
async def test_many_events_pass_and_one_without_an_end_does_not(size: int, end: bytes) -> None:
    whole = (b"data: " + b"x" * 20 + end) * 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_stream, "MAX_EVENT_BYTES", 70)
        assert len(await read(whole, size)) == 9
        for endless in (b"data: " + b"x" * 200, b"data: xxxxxx\n" * 20):
            with pytest.raises(ModelError, match="sent an event of more than") as caught:
                await read(whole + endless, size)
            assert caught.value.phase == "stream"


async def test_bytes_that_are_not_utf_8_are_malformed() -> None:
    with pytest.raises(ModelError, match="not UTF-8"):
        await read(b"data: \xff\n\n", 4)
