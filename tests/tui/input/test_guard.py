"""A fresh dialog does not take what was typed for something else."""

from __future__ import annotations

import pytest
from textual import events

from tui.input.event import RoutedEvent
from tui.input.guard import DialogGuard
from tui.input.priority import EventKind


class Bench:
    """A guard with a clock by hand."""

    def __init__(self) -> None:
        self.now_s = 10.0
        self.given_back: list[str] = []
        self.guard = DialogGuard(self.given_back.append, clock=lambda: self.now_s)
        self.guard.arm()

    def key(self, key: str, character: str | None = None) -> bool:
        """Return whether the guard swallowed the key."""
        event = RoutedEvent(events.Key(key, character), EventKind.KEY, [self])
        self.guard.on_input(event)
        return event.is_stopped

    def click(self) -> bool:
        mouse = events.MouseDown(None, 1, 1, 0, 0, 1, False, False, False)
        event = RoutedEvent(mouse, EventKind.MOUSE_DOWN, [self])
        self.guard.on_input(event)
        return event.is_stopped


def test_early_keys_are_swallowed_and_given_back() -> None:
    bench = Bench()
    assert all([bench.key("y", "y"), bench.key("e", "e"), bench.key("enter", "\r")])
    bench.now_s += 0.199
    assert bench.key("s", "s")
    assert bench.given_back == []
    bench.now_s += 0.002
    assert not bench.key("n", "n")
    assert bench.given_back == ["yes"]


def test_swallowed_text_comes_back_when_the_dialog_closes() -> None:
    bench = Bench()
    bench.key("h", "h")
    bench.key("i", "i")
    bench.key("x", "x")
    bench.key("backspace")
    bench.guard.release()
    bench.guard.release()
    assert bench.given_back == ["hi"]


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+d"])
def test_reserved_keys_pass(key: str) -> None:
    assert not Bench().key(key)


def test_early_clicks_answer_nothing() -> None:
    bench = Bench()
    assert bench.click()
    bench.now_s += 0.3
    assert not bench.click()


def test_the_click_that_focuses_the_window_answers_nothing() -> None:
    bench = Bench()
    bench.now_s += 5
    bench.guard.on_input(RoutedEvent(events.AppFocus(), EventKind.FOCUS, [bench]))
    assert bench.click()
    assert not bench.key("y", "y")


def test_a_paste_is_given_back_whole() -> None:
    bench = Bench()
    bench.guard.on_input(RoutedEvent(events.Paste("a\nb"), EventKind.PASTE, [bench]))
    bench.guard.release()
    assert bench.given_back == ["a\nb"]
