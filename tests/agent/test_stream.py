"""The fan-out: bounded, ordered, lossless, and never stuck on a consumer that left."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from agent.events import Notice
from agent.stream import EventStream


def notice(number: int) -> Notice:
    return Notice("t", "info", str(number))


@given(
    count=st.integers(0, 80), size=st.integers(1, 5), delays=st.lists(st.booleans(), max_size=80)
)
def test_every_consumer_sees_every_event_in_order(
    count: int, size: int, delays: list[bool]
) -> None:
    async def run() -> None:
        stream = EventStream()
        slow, quick = stream.subscribe(size), stream.subscribe(size)

        async def consume(subscription: object, pauses: list[bool]) -> list[str]:
            seen: list[str] = []
            async for event in subscription:  # type: ignore[attr-defined]
                seen.append(event.text)
                if len(seen) <= len(pauses) and pauses[len(seen) - 1]:
                    await asyncio.sleep(0)
            return seen

        consumers = asyncio.gather(consume(slow, delays), consume(quick, []))
        for number in range(count):
            await stream.publish(notice(number))
        await stream.close()
        expected = [str(number) for number in range(count)]
        assert list(await consumers) == [expected, expected]

    asyncio.run(run())


async def test_a_slow_consumer_slows_the_producer() -> None:
    stream = EventStream()
    subscription = stream.subscribe(2)
    await stream.publish(notice(1))
    await stream.publish(notice(2))
    third = asyncio.ensure_future(stream.publish(notice(3)))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not third.done()
    assert [event.type for event in subscription.drain()] == ["notice", "notice"]
    await third


async def test_a_consumer_that_leaves_frees_the_producer() -> None:
    stream = EventStream()
    subscription = stream.subscribe(1)
    await stream.publish(notice(1))
    waiting = asyncio.ensure_future(stream.publish(notice(2)))
    await asyncio.sleep(0)
    subscription.close()
    await waiting
    await stream.publish(notice(3))
