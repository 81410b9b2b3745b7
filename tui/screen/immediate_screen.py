"""Screens that show the effect of a discrete input event at once.

Textual draws at most every 1/60 s on a timer; a key that arrives just after a frame of streaming
text would wait for the next one.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from textual import events
from textual._compositor import CompositorMap
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

ScreenResult = TypeVar("ScreenResult")

PRIVATE_NAMES: Final = {
    "textual.screen.Screen": (
        "_compositor",
        "_compositor_refresh",
        "_dirty_widgets",
        "_layout_required",
        "_layout_widgets",
        "_on_idle",
        "_on_timer_update",
        "_refresh_layout",
        "_repaint_required",
        "_screen_resized",
        "_scroll_required",
    ),
    "textual._compositor.Compositor": ("_full_map", "_full_map_invalidated", "visible_widgets"),
    "textual.widget.Widget": ("_size_updated",),
}
"""Private names of Textual that this module uses."""


class LaidOutOnce(Widget):
    """A widget whose new size causes no second layout of the screen.

    Textual lays everything out again when the size of a widget's content has changed, because
    scrollbars may appear; a widget that has none, or draws its own, needs only the first layout.
    """

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class DrawsAtOnce(Screen[ScreenResult], Generic[ScreenResult]):
    """A screen that does not wait for the frame timer after a discrete input event."""

    _laid_out: CompositorMap | None = None
    """The map of the last layout."""
    _laid_out_size: Size | None = None
    """The size of the last layout."""

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        """Apply a size; a screen without scrollbars needs only one layout."""
        styles = self.styles
        is_fixed = styles.overflow_x == styles.overflow_y == "hidden"
        return super()._size_updated(size, virtual_size, container_size, layout and not is_fixed)

    def _screen_resized(self, size: Size) -> None:
        """Lay out for a size unless that was done: a layout itself sends the screen a resize."""
        if size != self._laid_out_size or self._layout_required:
            super()._screen_resized(size)

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

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Lay out, and repaint what moved since the previous layout.

        Textual compares with its newest map. It makes maps outside layouts, too, when the region of
        a new widget is requested; widgets that such a map moved would never be repainted.
        """
        if scroll and not self._layout_widgets:
            super()._refresh_layout(size, scroll)
            return
        compositor = self._compositor
        if self._laid_out is not None:
            compositor._full_map = self._laid_out
        compositor._full_map_invalidated = False
        # New widgets are painted with the layout anyway; as dirty ones they would cause a new map.
        self._dirty_widgets.intersection_update(compositor.visible_widgets)
        super()._refresh_layout(size, scroll)
        self._laid_out = compositor._full_map
        self._laid_out_size = compositor.size


class ImmediateScreen(DrawsAtOnce[None]):
    """The default screen of an app that writes cells; no borders, no padding."""

    def _compositor_refresh(self) -> None:
        show_prompt_first = getattr(self.app, "show_prompt_first", None)
        if show_prompt_first is not None and self.is_current:
            show_prompt_first(self)
        super()._compositor_refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the background: one rendered row, repeated; widgets cover most of it."""
        first_row = Region(crop.x, crop.y, crop.width, 1)
        return super().render_lines(first_row) * crop.height
