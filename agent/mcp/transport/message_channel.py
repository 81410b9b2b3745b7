"""The interface of channels for messages to and from a server, one JSON object each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""Largest message; larger ones are dropped unread."""


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
        """Close the channel; return when all of its resources are released."""
        ...
