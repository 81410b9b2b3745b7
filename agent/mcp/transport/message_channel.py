"""A way for messages to a server and back, one JSON object each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""A message beyond this is dropped before anything reads it."""


class ChannelClosed(Exception):
    """The other end is gone; the text is the reason."""


class MessageChannel(Protocol):
    """A duplex channel; used by one connection, then closed."""

    async def send(self, message: Mapping[str, object]) -> None:
        """Send a message. Raises ChannelClosed."""
        ...

    async def receive(self) -> bytes:
        """Return the next message as JSON text. Raises ChannelClosed."""
        ...

    async def aclose(self) -> None:
        """Close it; returns when nothing of it is left."""
        ...
