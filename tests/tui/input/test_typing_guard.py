"""A fresh dialog does not take what was typed for something else."""

from __future__ import annotations

import pytest
from textual import events

from tui.input.event import RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.typing_guard import DialogGuard


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


class Words(Bench):
    """The same, with a dialog that knows the letter y alone."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s += 1.0
        self.answers: list[str] = []

    def type(self, text: str, *, gap_s: float = 0.1) -> None:
        for character in text:
            self.now_s += gap_s
            event = RoutedEvent(events.Key(character, character), EventKind.KEY, [self])
            self.guard.on_input(event)
            if event.is_stopped:
                continue
            if character == "y":
                self.answers.append(character)
            else:
                self.guard.take_words(event)


def test_a_letter_within_a_word_answers_nothing() -> None:
    bench = Words()
    bench.type("try it my way")
    assert bench.key("enter", "\r")
    assert bench.answers == []
    assert bench.guard.is_typing
    bench.guard.release()
    assert bench.given_back == ["try it my way"]


def test_after_a_pause_the_same_letter_answers() -> None:
    bench = Words()
    bench.type("wh")
    bench.now_s += 1.01
    assert not bench.guard.is_typing
    bench.type("y")
    assert bench.answers == ["y"]
    assert bench.given_back == ["wh"]


def test_a_key_that_means_something_answers_at_once() -> None:
    bench = Words()
    bench.type("y")
    assert bench.answers == ["y"]


@pytest.mark.parametrize("key", ["escape", "up", "ctrl+y"])
def test_keys_that_are_no_words_pass_and_end_the_typing(key: str) -> None:
    bench = Words()
    bench.type("wh")
    assert not bench.key(key)
    bench.type("y")
    assert bench.answers == ["y"]


def test_typed_words_can_be_rubbed_out() -> None:
    bench = Words()
    bench.type("what")
    assert bench.key("backspace")
    bench.guard.release()
    assert bench.given_back == ["wha"]
