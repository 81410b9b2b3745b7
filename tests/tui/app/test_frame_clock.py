"""From events to frames: bounded, in order, at most one frame per tick, nothing while idle."""

from __future__ import annotations

import asyncio

from agent.events import AgentEvent, Notice, ToolDispatch, ToolResult
from tui.app.frame_clock import CAPACITY_EVENTS, FRAME_S, EventBridge, FrameClock


def note(number: int) -> Notice:
    return Notice("t1", "info", str(number))


class Screen:
    def __init__(self) -> None:
        self.folded: list[AgentEvent] = []
        self.frames: list[int] = []
        self.painted = asyncio.Event()
        self.bridge = EventBridge(self.folded.append, self.paint)

    def paint(self) -> None:
        self.frames.append(len(self.folded))
        self.painted.set()


async def test_events_arrive_in_order_and_none_is_lost() -> None:
    screen = Screen()
    for number in range(200):
        await screen.bridge.put(note(number))
        assert number + 1 - len(screen.folded) < CAPACITY_EVENTS
    screen.bridge.flush()
    assert screen.folded == [note(number) for number in range(200)]
    assert screen.frames[-1] == 200


async def test_a_burst_is_one_frame() -> None:
    screen = Screen()
    for number in range(10):
        await screen.bridge.put(note(number))
    await screen.painted.wait()
    assert screen.frames == [10]


async def test_the_first_event_after_a_pause_is_painted_at_once_later_ones_wait() -> None:
    loop = asyncio.get_running_loop()
    screen = Screen()
    await screen.bridge.put(note(1))
    await screen.painted.wait()
    first_s = loop.time()
    screen.painted.clear()
    await screen.bridge.put(note(2))
    await screen.painted.wait()
    assert loop.time() - first_s >= FRAME_S * 0.9
    assert screen.frames == [1, 2]


async def test_a_call_that_ends_at_once_is_painted_with_its_outcome() -> None:
    screen = Screen()
    await screen.bridge.put(ToolDispatch("t1", "u1", "Read", {}, "Read nowhere"))
    for _ in range(5):
        await asyncio.sleep(0)
    await screen.bridge.put(ToolResult("t1", "u1", "Read", "no such file", True, 0.0, "failed"))
    await screen.painted.wait()
    assert screen.frames == [2]


async def test_nothing_waits_while_nothing_arrives() -> None:
    screen = Screen()
    waiting = [screen.bridge.clock.is_waiting]
    await screen.bridge.put(note(1))
    waiting.append(screen.bridge.clock.is_waiting)
    await screen.painted.wait()
    waiting.append(screen.bridge.clock.is_waiting)
    assert waiting == [False, True, False]


async def test_a_slow_line_gets_fewer_frames() -> None:
    loop = asyncio.get_running_loop()
    painted = asyncio.Event()
    clock = FrameClock(painted.set, is_slow=lambda: True)
    clock.request()
    await painted.wait()
    first_s = loop.time()
    painted.clear()
    clock.request()
    await painted.wait()
    assert loop.time() - first_s >= FRAME_S * 3
