"""Which part of a history a person wants summarised."""

from __future__ import annotations

from typing import Literal

from permissions.base.lazy_dataclass import lazy_dataclass

Side = Literal["before", "since"]


@lazy_dataclass(frozen=True, slots=True)
class HistoryPart:
    """A part told by one of the person's messages."""

    message_uid: str
    side: Side
    """`since` holds the message itself, `before` does not."""
