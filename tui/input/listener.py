"""Components that listen: registration on mount, release on unmount."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Protocol, cast

from textual.dom import DOMNode

from tui.input.dispatch import Handler, InputRouter, Release
from tui.input.event import Phase
from tui.input.event_kind import EventKind


class RouterHost(Protocol):
    """An app that has a router, the same one as long as it runs."""

    @property
    def router(self) -> InputRouter: ...


class Listens:
    """Mixin for widgets and screens: their listeners are released when they unmount.

    Place it before the Textual class. Either override `listeners`, or call `listen` after the
    mount.
    """

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        """Return the listeners to register when the component mounts; none by default."""
        return ()

    def listen(
        self, phase: Phase, handler: Handler, kinds: Collection[EventKind] = (EventKind.KEY,)
    ) -> Release:
        """Register a listener on this component."""
        return self._router.listen(self, phase, handler, kinds)

    def own_keyboard(self) -> Release:
        """Withhold keys, pastes and clicks from all others until released or unmounted."""
        return self._router.own_keyboard(self)

    @property
    def _router(self) -> InputRouter:
        return cast("RouterHost", cast("DOMNode", self).app).router

    def _register_listeners(self) -> None:
        for phase, handler, kinds in self.listeners():
            self.listen(phase, handler, kinds)

    def _release_listeners(self) -> None:
        self._router.release_node(self)

    # Textual calls the handlers of every class in the resolution order, so these two run
    # whatever the component itself does on mount and unmount (except prevent_default). They are
    # hidden from type checkers, which would treat them as overrides.
    if not TYPE_CHECKING:
        _on_mount = _register_listeners
        _on_unmount = _release_listeners
