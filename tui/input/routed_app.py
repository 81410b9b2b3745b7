"""The app that connects the router to Textual: terminal input is routed before Textual handles it.

Unclaimed events fall through to Textual, whose bindings, palette and footer still work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.errors import NoWidget
from textual.widget import Widget

from tui.input.dispatch import InputRouter
from tui.input.driver import InputDriver
from tui.input.event import RoutedEvent
from tui.input.event_kind import EventKind, kind_of
from tui.input.key_handover import KeyHandover

if TYPE_CHECKING:
    from tui.input.early_prompt import EarlyPrompt

ReturnType = TypeVar("ReturnType")

PRIVATE_NAMES: Final = {
    "textual.app.App": ("_check_resize", "_driver", "_mouse_down_widget", "_resize_timer")
}
"""Private names of Textual that this module uses."""

_POINTER_KINDS: Final = frozenset(
    {
        EventKind.CLICK,
        EventKind.MOUSE_DOWN,
        EventKind.MOUSE_UP,
        EventKind.MOUSE_MOVE,
        EventKind.SCROLL,
    }
)
_OWNED_KINDS: Final = frozenset(
    {EventKind.KEY, EventKind.PASTE, EventKind.CLICK, EventKind.MOUSE_DOWN, EventKind.SCROLL}
)
"""Events that the owner of the keyboard withholds from all others."""


class RoutedApp(App[ReturnType], Generic[ReturnType]):
    """An app whose input goes through an `InputRouter` first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.router: Final = InputRouter()
        self.discrete_input_pending = False
        """Set by a discrete event, cleared by the frame that shows its effect."""
        self.early: EarlyPrompt | None = None
        """Controls the terminal until the driver does."""
        self.handover: Final = KeyHandover(self, self._route)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Release the terminal for a while; errors are raised once it is back."""
        suspension = super().suspend()
        suspension.__enter__()
        try:
            yield
        finally:
            # Not passed the exception: otherwise Textual would not resume application mode.
            suspension.__exit__(None, None, None)

    def get_driver_class(self) -> type[Driver]:
        """Return our driver, unless the environment names another (as the web server does)."""
        driver_class = super().get_driver_class()
        if driver_class is LinuxDriver:
            return InputDriver
        return driver_class

    def post_display_hook(self) -> None:
        """Notify the input bus that a frame was drawn."""
        super().post_display_hook()
        if isinstance(self._driver, InputDriver):
            self._driver.bus.note_frame()

    async def on_event(self, event: events.Event) -> None:
        """Route terminal input; everything else goes straight to Textual."""
        kind = kind_of(event)
        if kind is None or event.is_forwarded:
            await super().on_event(event)
        elif kind not in (EventKind.KEY, EventKind.PASTE) or not self.handover.take(event):
            await self._route(event)

    async def _route(self, event: events.Event) -> None:
        kind = kind_of(event)
        assert kind is not None
        if kind not in (EventKind.MOUSE_MOVE, EventKind.RESIZE):
            self.discrete_input_pending = True
        if kind is EventKind.MOUSE_MOVE and not self.router.has_listener(kind):
            await super().on_event(event)
            return
        if not self.app_focus and kind in (EventKind.KEY, EventKind.PASTE):
            # While the window has no focus, Textual focuses no widget, and restores it only after
            # the key; a multiplexer may send keys to such a window.
            self.app_focus = True
        path, is_withheld = self._path_of(event, kind)
        if self.router.dispatch(RoutedEvent(event, kind, path)) or is_withheld:
            event.stop()
            return
        if isinstance(event, events.MouseUp) and self._click_is_claimed(event, path):
            # Textual derives the click from this field; the mouse release must still be delivered,
            # or a selection by dragging would never end.
            self._mouse_down_widget = None
        await super().on_event(event)
        if kind in (EventKind.KEY, EventKind.PASTE):
            self.handover.begin()
        elif kind is EventKind.RESIZE and self._resize_timer is not None:
            # Textual waits for further resizes, which the bus has already done.
            self._check_resize()

    def _path_of(self, event: events.Event, kind: EventKind) -> tuple[list[DOMNode], bool]:
        """Return the path, root first, and whether a dialog withholds the event from its target."""
        target: DOMNode | None = None
        if kind in _POINTER_KINDS and isinstance(event, events.MouseEvent):
            try:
                target, _region = self.get_widget_at(int(event.screen_x), int(event.screen_y))
            except (NoWidget, IndexError):
                target = None
        elif self.screen_stack:
            target = self.focused or self.screen
        path = [*reversed((target or self).ancestors_with_self)]
        owner = self.router.keyboard_owner
        if kind in _OWNED_KINDS and isinstance(owner, Widget) and owner not in path:
            return [*reversed(owner.ancestors_with_self)], True
        return path, False

    def _click_is_claimed(self, event: events.MouseUp, path: list[DOMNode]) -> bool:
        if self._mouse_down_widget is None or self._mouse_down_widget is not path[-1]:
            return False
        click = events.Click.from_event(self._mouse_down_widget, event)
        click_path, is_withheld = self._path_of(click, EventKind.CLICK)
        routed_event = RoutedEvent(click, EventKind.CLICK, click_path)
        return self.router.dispatch(routed_event) or is_withheld
