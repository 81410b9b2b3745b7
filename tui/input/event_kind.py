"""The priority class of every terminal input event, and the kind it is routed as.

Source: streaming-and-events, "Event Priority and Scheduling".
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from textual import events
from textual.message import Message


class EventPriority(StrEnum):
    """How soon an event is dispatched, and whether later ones may replace it."""

    DISCRETE = "discrete"
    """Dispatched at once, one by one, never batched."""
    CONTINUOUS = "continuous"
    """Only the last state of a burst counts; waits for discrete events."""
    DEFAULT = "default"


class EventKind(StrEnum):
    """What a listener can ask for."""

    KEY = "key"
    PASTE = "paste"
    CLICK = "click"
    MOUSE_DOWN = "mouse_down"
    MOUSE_UP = "mouse_up"
    MOUSE_MOVE = "mouse_move"
    SCROLL = "scroll"
    FOCUS = "focus"
    """The terminal window got the focus."""
    BLUR = "blur"
    """The terminal window lost the focus."""
    RESIZE = "resize"


_KINDS: Final[tuple[tuple[type[Message], EventKind], ...]] = (
    (events.Key, EventKind.KEY),
    (events.Paste, EventKind.PASTE),
    (events.Click, EventKind.CLICK),
    (events.MouseDown, EventKind.MOUSE_DOWN),
    (events.MouseUp, EventKind.MOUSE_UP),
    (events.MouseMove, EventKind.MOUSE_MOVE),
    (events.MouseScrollUp, EventKind.SCROLL),
    (events.MouseScrollDown, EventKind.SCROLL),
    (events.MouseScrollLeft, EventKind.SCROLL),
    (events.MouseScrollRight, EventKind.SCROLL),
    (events.AppFocus, EventKind.FOCUS),
    (events.AppBlur, EventKind.BLUR),
    (events.Resize, EventKind.RESIZE),
)

_CONTINUOUS: Final = frozenset({EventKind.RESIZE, EventKind.SCROLL, EventKind.MOUSE_MOVE})


def kind_of(message: Message) -> EventKind | None:
    """Return the kind that a message is routed as; None if it is not terminal input."""
    message_class = type(message)
    for event_class, kind in _KINDS:
        if issubclass(message_class, event_class):
            return kind
    return None


def priority_of(message: Message) -> EventPriority:
    """Return the priority class of a message."""
    kind = kind_of(message)
    if kind is None:
        return EventPriority.DEFAULT
    return EventPriority.CONTINUOUS if kind in _CONTINUOUS else EventPriority.DISCRETE
