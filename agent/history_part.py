"""Which part of a history a user wants summarised."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Side = Literal["before", "since"]


class HistoryPart(Struct, frozen=True):
    """A part told by one of the user's messages."""

    message_uid: str
    side: Side
    """`since` holds the message itself, `before` does not."""
