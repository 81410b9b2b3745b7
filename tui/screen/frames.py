"""Screens that show the effect of a discrete input event at once.

Textual draws at most every 1/60 s on a timer; a key that arrives just after a frame of streaming
text would wait for the next one.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from textual import events
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

ScreenResult = TypeVar("ScreenResult")

PRIVATE_NAMES: Final = {
    "textual.screen.Screen": (
        "_dirty_widgets",
        "_layout_required",
        "_on_idle",
        "_on_timer_update",
        "_repaint_required",
        "_scroll_required",
    ),
    "textual.widget.Widget": ("_size_updated",),
}
"""What this module uses of Textual that Textual does not promise."""


class LaidOutOnce(Widget):
    """A widget whose new size causes no second layout of the screen.

    Textual lays everything out again when the size of what a widget holds has changed, for the
    sake of scrollbars; a widget that has none, or draws its own, is right after the first.
    """

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class DrawsAtOnce(Screen[ScreenResult], Generic[ScreenResult]):
    """A screen that does not wait for the frame timer after a discrete input event."""

    async def _on_idle(self, event: events.Idle) -> None:
        app: Any = self.app
        if not getattr(app, "discrete_input_pending", False) or not self.is_current:
            return
        if (
            self._layout_required
            or self._scroll_required
            or self._repaint_required
            or self._dirty_widgets
        ):
            app.discrete_input_pending = False
            self._on_timer_update()


class ImmediateScreen(DrawsAtOnce[None]):
    """The default screen of an app that writes cells."""
