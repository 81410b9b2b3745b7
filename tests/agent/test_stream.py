"""The fan-out: recorded first, ordered, lossless, bounded, and never stuck on who left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import AgentEvent, Notice, Terminal
from agent.stream import DEFAULT_BUFFER_EVENTS, EventStream, StreamRun

END = Terminal("t", "completed")
Produce = Callable[[EventStream], Awaitable[None]]


def notice(number: int) -> Notice:
    return Notice("t", "info", str(number))


def texts(events: Sequence[AgentEvent]) -> list[str]:
    return [event.text if isinstance(event, Notice) else event.type for event in events]


class Bench:
    """A stream that records into a list."""

    def __init__(self) -> None:
        self.stream = EventStream()
        self.recorded: list[AgentEvent] = []
        self.notices: list[AgentEvent] = []

    async def record(self, event: AgentEvent) -> list[AgentEvent]:
        self.recorded.append(event)
        await asyncio.sleep(0)
        notices, self.notices = self.notices, []
        return notices

    def start(self, produce: Produce, *listeners: Callable[[AgentEvent], None]) -> StreamRun:
        return self.stream.start(lambda: produce(self.stream), self.record, listeners=listeners)


async def read(run: StreamRun, pauses: Sequence[bool] = ()) -> list[AgentEvent]:
    events: list[AgentEvent] = []
    while (event := await run.next()) is not None:
        events.append(event)
        if len(events) <= len(pauses) and pauses[len(events) - 1]:
            await settle()
    return events


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def counting(count: int) -> Produce:
    async def produce(stream: EventStream) -> None:
        for number in range(count):
            await stream.emit(notice(number))
        await stream.emit(END)

    return produce


@given(count=st.integers(0, 80), pauses=st.lists(st.booleans(), max_size=80))
def test_every_listener_receives_every_event_in_order(count: int, pauses: list[bool]) -> None:
    async def run() -> None:
        bench = Bench()
        heard: list[AgentEvent] = []
        events = await read(bench.start(counting(count), heard.append), pauses)
        assert events == [*map(notice, range(count)), END]
        assert heard == events
        assert bench.recorded == events

    asyncio.run(run())


async def test_an_event_is_recorded_before_anyone_receives_it() -> None:
    bench = Bench()
    early: list[AgentEvent] = []

    def listen(event: AgentEvent) -> None:
        if event not in bench.recorded:
            early.append(event)

    run = bench.start(counting(50), listen)
    while (event := await run.next()) is not None:
        listen(event)
    assert early == []


async def test_notices_of_the_record_go_in_front_of_the_event() -> None:
    bench = Bench()
    bench.notices = [notice(7)]
    assert texts(await read(bench.start(counting(1)))) == ["7", "0", "terminal"]


async def test_a_slow_listener_slows_the_producer() -> None:
    bench = Bench()
    run = bench.start(counting(200))
    for _ in range(50):
        await settle()
    assert len(bench.recorded) == DEFAULT_BUFFER_EVENTS + 1
    assert texts([await run.next() or END]) == ["0"]
    await settle()
    assert len(bench.recorded) == DEFAULT_BUFFER_EVENTS + 2
    assert len(await read(run)) == 200


async def test_concurrent_producers_are_recorded_and_received_in_one_order() -> None:
    async def produce(stream: EventStream) -> None:
        async def one(start: int) -> None:
            for number in range(start, start + 40):
                await stream.emit(notice(number))

        await asyncio.gather(one(0), one(100), one(200))

    bench = Bench()
    heard: list[AgentEvent] = []
    events = await read(bench.start(produce, heard.append), [True] * 120)
    assert bench.recorded == events == heard
    assert len(events) == 120
    for start in (0, 100, 200):
        own = [int(text) for text in texts(events) if start <= int(text) < start + 100]
        assert own == sorted(own)


async def test_nothing_follows_the_terminal() -> None:
    async def produce(stream: EventStream) -> None:
        await stream.emit(Terminal("t", "completed", agent_id="sub"))
        await stream.emit(END)
        await stream.emit(notice(1))

    bench = Bench()
    assert texts(await read(bench.start(produce))) == ["terminal", "terminal"]
    await bench.stream.emit(notice(2))
    assert len(bench.recorded) == 2


@given(cancel_after=st.integers(0, 30), room=st.booleans())
def test_a_cancelled_producer_loses_nothing_that_was_recorded(
    cancel_after: int, room: bool
) -> None:
    async def run() -> None:
        async def produce(stream: EventStream) -> None:
            child = asyncio.ensure_future(counting_forever(stream))
            for _ in range(cancel_after):
                await asyncio.sleep(0)
            child.cancel()
            await asyncio.wait({child})
            await stream.emit(END)

        bench = Bench()
        following = bench.start(produce)
        if not room:
            for _ in range(20):
                await settle()
        assert await read(following) == bench.recorded
        assert bench.recorded[-1] == END

    asyncio.run(run())


async def counting_forever(stream: EventStream) -> None:
    number = 0
    while True:
        await stream.emit(notice(number))
        number += 1


async def test_a_reader_that_leaves_cancels_the_work_and_frees_it() -> None:
    ended = asyncio.Event()

    async def produce(stream: EventStream) -> None:
        try:
            await counting_forever(stream)
        finally:
            await stream.emit(notice(-1))
            ended.set()

    bench = Bench()
    heard: list[AgentEvent] = []
    run = bench.start(produce, heard.append)
    assert texts([await run.next() or END]) == ["0"]
    await run.aclose()
    assert ended.is_set()
    assert heard == bench.recorded, "who still listens misses nothing"
    assert texts(bench.recorded)[-1] == "-1"


async def test_a_run_that_is_left_before_it_began_does_nothing() -> None:
    bench = Bench()
    await bench.start(counting(3)).aclose()
    await bench.stream.emit(notice(1))
    assert bench.recorded == []


async def test_a_listener_that_raises_is_left_out_and_disturbs_no_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(event: AgentEvent) -> None:
        raise ValueError(event.type)

    bench = Bench()
    heard: list[AgentEvent] = []
    events = await read(bench.start(counting(100), broken, heard.append))
    assert len(events) == 101
    assert heard == events
    assert [record.message for record in caplog.records] == [
        "a listener of the event stream failed"
    ]


async def test_what_the_work_raises_comes_behind_its_events() -> None:
    async def produce(stream: EventStream) -> None:
        await stream.emit(notice(1))
        raise ValueError("broken")

    run = Bench().start(produce)
    assert texts([await run.next() or END]) == ["1"]
    with pytest.raises(ValueError, match="broken"):
        await run.next()


async def test_what_one_listener_is_shown_is_its_own() -> None:
    async def doubled(event: AgentEvent) -> list[AgentEvent]:
        return [event, event]

    bench = Bench()
    heard: list[AgentEvent] = []
    run = bench.stream.start(
        lambda: counting(1)(bench.stream), bench.record, show=doubled, listeners=(heard.append,)
    )
    assert texts(await read(run)) == ["0", "0", "terminal", "terminal"]
    assert texts(heard) == ["0", "terminal"]


async def test_a_cancellation_while_one_listener_is_shown_an_event_is_not_the_others() -> None:
    async def blocked(_event: AgentEvent) -> list[AgentEvent]:
        await asyncio.Event().wait()
        return []

    bench = Bench()
    heard: list[AgentEvent] = []
    run = bench.stream.start(
        lambda: counting(1)(bench.stream), bench.record, show=blocked, listeners=(heard.append,)
    )
    await settle()
    await run.aclose()
    assert texts(heard) == ["0"]
