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

    _laid_out: CompositorMap | None = None
    """Where everything was at the last layout."""
    _laid_out_size: Size | None = None
    """For which size that was."""

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        """Apply a size; without scrollbars that appear or disappear, one layout is enough."""
        styles = self.styles
        is_fixed = styles.overflow_x == styles.overflow_y == "hidden"
        return super()._size_updated(size, virtual_size, container_size, layout and not is_fixed)

    def _screen_resized(self, size: Size) -> None:
        """Lay out for a size unless it is done: the layout itself sends the screen a resize."""
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
        """Lay out, and compare with what was laid out last.

        Textual compares with its newest map, and makes a newer one outside a layout when somebody
        asks where a widget is that is not laid out yet. What that map moved would never be painted.
        """
        if scroll and not self._layout_widgets:
            super()._refresh_layout(size, scroll)
            return
        compositor = self._compositor
        if self._laid_out is not None:
            compositor._full_map = self._laid_out
        compositor._full_map_invalidated = False
        # New widgets are painted with the layout anyway; they would make a newer map, too.
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
        """Return the ground, one rendered row for all of them; what lies above hides most."""
        first_row = Region(crop.x, crop.y, crop.width, 1)
        return super().render_lines(first_row) * crop.height
