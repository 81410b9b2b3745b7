"""The router: synchronous dispatch to the listeners of each node, capture phase, then bubble phase.

It does not depend on Textual's tree: the caller passes the path. Listeners are plain
functions and must not block; slow work belongs in a worker.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct

from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind

Handler = Callable[[RoutedEvent], None]
Release = Callable[[], None]
"""Undoes one registration; calling it again does nothing."""

RESERVED_KEYS: Final = frozenset({"ctrl+c", "ctrl+d"})
"""Keys that the root handles before every listener, and that cannot be rebound."""


class _Listener(Struct, frozen=True, eq=False):
    phase: Phase
    kinds: frozenset[EventKind]
    """Empty: every kind."""
    resolve: Callable[[], Handler | None]
    """Returns the handler; None once its object was collected: bound methods are held weakly."""


class InputRouter:
    """Listeners of all nodes, and the one function that runs them."""

    def __init__(self) -> None:
        self._listeners: weakref.WeakKeyDictionary[object, list[_Listener]] = (
            weakref.WeakKeyDictionary()
        )
        self._reserved_keys: dict[str, Handler] = {}
        self._owners: list[weakref.ref[object]] = []

    def listen(
        self,
        node: object,
        phase: Phase,
        handler: Handler,
        kinds: Collection[EventKind] = (EventKind.KEY,),
    ) -> Release:
        """Call the handler for events of these kinds (empty: all) on their way through the node.

        Listeners of one node and phase run in the order of registration.
        """
        listener = _Listener(phase, frozenset(kinds), _resolver(handler))
        self._listeners.setdefault(node, []).append(listener)
        node_ref = weakref.ref(node)

        def release() -> None:
            remaining = self._listeners.get(node_ref())
            if remaining and listener in remaining:
                remaining.remove(listener)
                if not remaining:
                    self.release_node(node_ref())

        return release

    def release_node(self, node: object) -> None:
        """Drop every listener of the node and its ownership of the keyboard."""
        self._listeners.pop(node, None)
        self._owners = [ref for ref in self._owners if ref() not in (node, None)]

    def reserve(self, key: str, handler: Handler) -> None:
        """Give a reserved key to the root: it runs before every listener.

        Raises:
            ValueError: the key is not one of `RESERVED_KEYS`.
        """
        if key not in RESERVED_KEYS:
            raise ValueError(f"{key} is not reserved; reserved: {', '.join(sorted(RESERVED_KEYS))}")
        self._reserved_keys[key] = handler

    def own_keyboard(self, node: object) -> Release:
        """Withhold keys, pastes and clicks from nodes outside this one; the newest owner counts.

        For dialogs that are drawn on the same screen as what they must cover.
        """
        ref = weakref.ref(node)
        self._owners.append(ref)

        def release() -> None:
            if ref in self._owners:
                self._owners.remove(ref)

        return release

    @property
    def keyboard_owner(self) -> object | None:
        """The newest living owner; None when keys follow the focus."""
        while self._owners:
            owner = self._owners[-1]()
            if owner is not None:
                return owner
            self._owners.pop()
        return None

    def has_listener(self, kind: EventKind) -> bool:
        """Return whether any listener asks for this kind."""
        return any(
            not listener.kinds or kind in listener.kinds
            for listeners in self._listeners.values()
            for listener in listeners
        )

    def dispatch(self, event: RoutedEvent) -> bool:
        """Run reserved key, capture (root to target), bubble (target to root); True if claimed.

        A listener that registers or releases others affects only nodes not yet visited. What a
        handler raises is not caught.
        """
        if (handler := self._reserved_keys.get(event.key)) is not None:
            handler(event)
            if event.is_stopped:
                return True
        for phase, nodes in (
            (Phase.CAPTURE, event.path),
            (Phase.BUBBLE, tuple(reversed(event.path))),
        ):
            event.phase = phase
            if self._run_phase(event, phase, nodes):
                return True
        return False

    def _run_phase(self, event: RoutedEvent, phase: Phase, nodes: Sequence[object]) -> bool:
        for node in nodes:
            for listener in tuple(self._listeners.get(node, ())):
                if listener.phase is not phase:
                    continue
                if listener.kinds and event.kind not in listener.kinds:
                    continue
                handler = listener.resolve()
                if handler is None:
                    continue
                handler(event)
                if event.is_stopped:
                    return True
        return False


def _resolver(handler: Handler) -> Callable[[], Handler | None]:
    if hasattr(handler, "__self__") and hasattr(handler, "__func__"):
        return weakref.WeakMethod(handler)
    return lambda: handler
