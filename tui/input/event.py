"""One terminal input event on its way through the tree."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from textual import events
from textual.message import Message

from tui.input.event_kind import EventKind


class Phase(StrEnum):
    """Which way the event travels when a listener gets it."""

    CAPTURE = "capture"
    """From the root down to the target."""
    BUBBLE = "bubble"
    """From the target up to the root."""


class RoutedEvent:
    """A terminal input event with its path; made by the router's caller, one per event.

    `stop_immediate_propagation` is the only control: it ends everything for this event, the
    remaining listeners of the same node and Textual's own bindings included
    (streaming-and-events, "Capture and Bubble Phases").
    """

    __slots__ = ("_is_stopped", "kind", "message", "path", "phase")

    def __init__(self, message: Message, kind: EventKind, path: Sequence[object]) -> None:
        """`path` goes from the root to the target and is never empty."""
        self.message = message
        """Textual's event: a `Key` for `EventKind.KEY`, and so on."""
        self.kind = kind
        self.path = path
        self.phase = Phase.CAPTURE
        self._is_stopped = False

    @property
    def target(self) -> object:
        """The last node of the path."""
        return self.path[-1]

    @property
    def key(self) -> str:
        """The key's name as Textual spells it ("ctrl+c"); "" for anything but a key."""
        return self.message.key if isinstance(self.message, events.Key) else ""

    @property
    def text(self) -> str:
        """What the event would type: a printable character, or pasted text, or ""."""
        match self.message:
            case events.Key() as key:
                return key.character if key.is_printable and key.character else ""
            case events.Paste() as paste:
                return paste.text
            case _:
                return ""

    @property
    def is_stopped(self) -> bool:
        """Whether a listener has claimed the event."""
        return self._is_stopped

    def stop_immediate_propagation(self) -> None:
        """End this event: no other listener and no default action sees it."""
        self._is_stopped = True

    def claim(self) -> None:
        """Claim the event; an alias of `stop_immediate_propagation`."""
        self._is_stopped = True
