"""The router in front of Textual: order, claims, dialogs, and what falls through."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar

import pytest
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tests.tui.input.listeners import listener_count
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.listener import Listens
from tui.input.routed_app import RoutedApp
from tui.input.typing_guard import DialogGuard


class Overlay(Listens, Static):
    """A dialog on the same screen; takes every key while it is there."""

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        return [(Phase.CAPTURE, self.take, {EventKind.KEY, EventKind.CLICK})]

    def on_mount(self) -> None:
        self.taken: list[str] = []
        self.own_keyboard()

    def take(self, event: RoutedEvent) -> None:
        self.taken.append(event.key or event.kind)


class Modal(Listens, ModalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Input(id="inner")

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        return [(Phase.CAPTURE, lambda event: event.claim(), {EventKind.KEY})]


class Target(Static):
    def on_click(self) -> None:
        app = self.app
        assert isinstance(app, RouterApp)
        app.noted.append("click")


class RouterApp(RoutedApp[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "note('binding')", "note"),
        Binding("f9", "note('f9')", "note"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Input()
            yield Target("click me", id="target")

    def action_note(self, what: str) -> None:
        self.noted.append(what)


def _click(app: RouterApp, selector: str) -> None:
    """Press and release as the driver reports it."""
    region = app.query_one(selector).region
    for event_class in (events.MouseDown, events.MouseUp):
        app.post_message(
            event_class(
                widget=None,
                x=region.x,
                y=region.y,
                delta_x=0,
                delta_y=0,
                button=1,
                shift=False,
                meta=False,
                ctrl=False,
                screen_x=region.x,
                screen_y=region.y,
            )
        )


async def test_order_is_down_then_up_then_textual() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        field = app.query_one(Input)
        field.focus()
        heard: list[str] = []

        def hearing(name: str) -> Handler:
            return lambda event: heard.append(f"{event.phase} {name}")

        for node in (app, app.screen, app.query_one(Vertical), field):
            for phase in (Phase.BUBBLE, Phase.CAPTURE):
                app.router.listen(node, phase, hearing(type(node).__name__))
        await pilot.press("x")
        assert heard == [
            "capture RouterApp",
            "capture Screen",
            "capture Vertical",
            "capture Input",
            "bubble Input",
            "bubble Vertical",
            "bubble Screen",
            "bubble RouterApp",
        ]
        assert field.value == "x"


async def test_a_claimed_key_reaches_neither_widgets_nor_bindings() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        field = app.query_one(Input)
        field.focus()
        await pilot.press("ctrl+t")
        app.router.listen(app, Phase.CAPTURE, lambda event: event.claim())
        await pilot.press("x", "ctrl+t", "f9")
        assert (field.value, app.noted) == ("", ["binding"])


async def test_keys_typed_at_once_arrive_in_order_whoever_handles_them() -> None:
    app = RouterApp()
    submitted: list[str] = []

    def submit(event: RoutedEvent) -> None:
        if event.key == "enter":
            submitted.append(field.value)
            event.claim()

    async with app.run_test() as pilot:
        field = app.query_one(Input)
        field.focus()
        await pilot.pause()
        app.router.listen(field, Phase.CAPTURE, submit)
        for key in ("h", "i", "enter", "!", "enter"):
            app.post_message(events.Key(key, None))
        await pilot.pause()
        await pilot.pause()
        assert submitted == ["hi", "hi!"]


async def test_a_widget_that_goes_away_does_not_block_the_keyboard() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        field = app.query_one(Input)
        field.focus()
        await pilot.pause()
        app.post_message(events.Key("x", None))
        removed = field.remove()
        app.post_message(events.Key("f9", None))
        await removed
        await pilot.pause()
        assert app.noted == ["f9"]


async def test_reserved_keys_pass_every_dialog() -> None:
    app = RouterApp()
    interrupts: list[str] = []

    def interrupt(event: RoutedEvent) -> None:
        interrupts.append(event.key)
        event.claim()

    async with app.run_test() as pilot:
        app.router.reserve("ctrl+c", interrupt)
        await app.push_screen(Modal())
        await pilot.press("a", "ctrl+c")
        inner = app.screen.query_one("#inner", Input)
        assert (inner.value, interrupts) == ("", ["ctrl+c"])


async def test_an_overlay_keeps_keys_and_clicks_from_what_it_covers() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        field = app.query_one(Input)
        field.focus()
        overlay = Overlay("dialog")
        await app.mount(overlay)
        await pilot.press("y", "f9")
        _click(app, "#target")
        await pilot.pause()
        assert overlay.taken == ["y", "f9"]
        assert (field.value, app.noted, app.focused) == ("", [], field)
        await overlay.remove()
        await pilot.press("z")
        assert field.value == "z"


async def test_a_click_can_be_claimed_before_the_widget_gets_it() -> None:
    app = RouterApp()
    heard: list[object] = []

    def on_click(event: RoutedEvent) -> None:
        heard.append(event.target)
        event.claim()

    async with app.run_test() as pilot:
        target = app.query_one("#target")
        app.router.listen(app.screen, Phase.CAPTURE, on_click, {EventKind.CLICK})
        _click(app, "#target")
        await pilot.pause()
        assert heard == [target]
        assert app.noted == []


async def test_an_unclaimed_click_goes_to_textual() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        _click(app, "#target")
        await pilot.pause()
        assert app.noted == ["click"]


async def test_the_guard_gives_early_text_back_to_the_prompt() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        field = app.query_one(Input)
        now = [0.0]
        guard = DialogGuard(field.insert_text_at_cursor, clock=lambda: now[0])
        app.router.listen(app, Phase.CAPTURE, guard.on_input)
        field.focus()
        guard.arm()
        await pilot.press("h", "i", "enter")
        assert field.value == ""
        now[0] = 1.0
        await pilot.press("!")
        assert field.value == "hi!"


@pytest.mark.parametrize("driver", ["textual.drivers.headless_driver:HeadlessDriver"])
async def test_a_driver_named_by_the_environment_is_used(
    monkeypatch: pytest.MonkeyPatch, driver: str
) -> None:
    monkeypatch.setattr("textual.constants.DRIVER", driver)
    assert RouterApp().driver_class.__name__ == "HeadlessDriver"


async def test_a_thousand_components_leave_no_listener() -> None:
    app = RouterApp()
    async with app.run_test() as pilot:
        before = listener_count(app.router)
        for _ in range(10):
            overlays = [Overlay(str(number)) for number in range(100)]
            await app.mount(*overlays)
            assert listener_count(app.router) == before + 100
            await app.screen.query(Overlay).remove()
        await pilot.pause()
        assert listener_count(app.router) == before
        assert app.router.keyboard_owner is None
