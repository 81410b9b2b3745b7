"""Discrete input at once and in order; of the rest the newest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import events
from textual.geometry import Size
from textual.message import Message

from tui.input.bus import InputBus


def _key(key: str) -> events.Key:
    return events.Key(key, None)


def _resize(width: int) -> events.Resize:
    return events.Resize(Size(width, 10), Size(width, 10))


def _mouse(kind: type[events.MouseEvent], x: int = 1) -> events.MouseEvent:
    return kind(None, x, 1, 0, 0, 0, False, False, False, screen_x=x, screen_y=1)


class Receiver:
    """Collects what is delivered; lets a test wait for it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._grew = asyncio.Event()
        self.bus = InputBus(self._take, asyncio.get_running_loop())

    def _take(self, message: Message) -> None:
        self.messages.append(message)
        self._grew.set()

    async def until(self, is_reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not is_reached():
                self._grew.clear()
                await self._grew.wait()

    @property
    def names(self) -> list[str]:
        return [
            message.key if isinstance(message, events.Key) else type(message).__name__
            for message in self.messages
        ]


async def test_keys_keep_their_order_and_go_before_what_can_wait() -> None:
    receiver = Receiver()
    for message in (_resize(1), _key("a"), _mouse(events.MouseScrollDown), _key("b"), _resize(2)):
        receiver.bus.push(message)
    await receiver.until(lambda: len(receiver.messages) == 4)
    assert receiver.names == ["a", "b", "MouseScrollDown", "Resize"]
    (*_, last) = receiver.messages
    assert isinstance(last, events.Resize)
    assert last.size.width == 2


async def test_of_many_resizes_the_first_and_the_last_arrive() -> None:
    receiver = Receiver()
    receiver.bus.push(_resize(1))
    await receiver.until(lambda: bool(receiver.messages))
    for width in range(2, 50):
        receiver.bus.push(_resize(width))
        receiver.bus.push(_key("k"))
    await receiver.until(lambda: len([name for name in receiver.names if name == "Resize"]) == 2)
    widths = [m.size.width for m in receiver.messages if isinstance(m, events.Resize)]
    assert widths == [1, 49]
    assert receiver.names.count("k") == 48
    assert receiver.names[-1] == "Resize"


async def test_wheel_steps_add_up_and_cancel() -> None:
    receiver = Receiver()
    for _ in range(7):
        receiver.bus.push(_mouse(events.MouseScrollDown))
    for _ in range(3):
        receiver.bus.push(_mouse(events.MouseScrollUp))
    receiver.bus.push(_mouse(events.MouseScrollLeft))
    await receiver.until(lambda: len(receiver.messages) == 5)
    assert receiver.names == ["MouseScrollDown"] * 4 + ["MouseScrollLeft"]


async def test_a_button_finds_the_pointer_where_it_was_pressed() -> None:
    receiver = Receiver()
    for x in range(5):
        receiver.bus.push(_mouse(events.MouseMove, x))
    receiver.bus.push(_mouse(events.MouseUp, 9))
    await receiver.until(lambda: len(receiver.messages) == 2)
    assert receiver.names == ["MouseMove", "MouseUp"]
    (move, _up) = receiver.messages
    assert isinstance(move, events.MouseMove)
    assert move.x == 4


async def test_a_slow_layout_stretches_the_gap() -> None:
    receiver = Receiver()
    receiver.bus.push(_resize(1))
    await receiver.until(lambda: len(receiver.messages) == 1)
    loop = asyncio.get_running_loop()
    shown = asyncio.Event()
    loop.call_later(0.05, shown.set)
    await shown.wait()
    started_s = loop.time()
    receiver.bus.note_frame()
    receiver.bus.push(_resize(2))
    await receiver.until(lambda: len(receiver.messages) == 2)
    assert loop.time() - started_s >= 0.14


async def test_other_threads_may_push() -> None:
    receiver = Receiver()

    def push_all() -> None:
        for number in range(100):
            receiver.bus.push(_key(str(number)))

    await asyncio.to_thread(push_all)
    await receiver.until(lambda: len(receiver.messages) == 100)
    assert receiver.names == [str(number) for number in range(100)]


async def test_nothing_is_scheduled_while_nothing_arrives() -> None:
    receiver = Receiver()
    receiver.bus.push(_mouse(events.MouseScrollDown))
    await receiver.until(lambda: bool(receiver.messages))
    assert receiver.bus._timer is None


async def test_a_key_brings_the_held_resize_with_it() -> None:
    receiver = Receiver()
    receiver.bus.push(_resize(1))
    await receiver.until(lambda: bool(receiver.messages))
    loop = asyncio.get_running_loop()
    shown = asyncio.Event()
    loop.call_later(0.05, shown.set)
    await shown.wait()
    receiver.bus.note_frame()
    receiver.bus.push(_resize(2))
    receiver.bus.push(_key("k"))
    # However long the last layout took, within the next turn of the loop.
    await asyncio.sleep(0)
    assert receiver.names == ["Resize", "k", "Resize"]
