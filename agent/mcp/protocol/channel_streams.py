"""Adapts our channels to the SDK's transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from agent.mcp.protocol.message_guard import MessageGuard
from agent.mcp.transport.message_channel import ChannelClosed, MessageChannel


class ChannelReader(ObjectReceiveStream[SessionMessage]):
    """Reads messages from a channel; invalid ones are recorded and skipped."""

    def __init__(self, channel: MessageChannel, guard: MessageGuard) -> None:
        """`guard` records invalid messages."""
        self._channel = channel
        self._guard = guard

    async def receive(self) -> SessionMessage:
        """Return the next message; raises anyio.EndOfStream."""
        while True:
            # A flood of messages must not block other tasks.
            await asyncio.sleep(0)
            try:
                text = await self._channel.receive()
            except ChannelClosed:
                raise anyio.EndOfStream from None
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
            except (ValidationError, RecursionError):
                self._guard.junk(text)

    async def aclose(self) -> None:
        """Leave the channel open, as the code that opened it closes it."""


class ChannelWriter(ObjectSendStream[SessionMessage]):
    """Writes messages to a channel."""

    def __init__(self, channel: MessageChannel) -> None:
        """Messages are sent unbuffered."""
        self._channel = channel

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message; raises anyio.BrokenResourceError."""
        message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        try:
            await self._channel.send(message)
        except ChannelClosed:
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        """Leave the channel open."""


@asynccontextmanager
async def channel_transport(
    channel: MessageChannel, guard: MessageGuard
) -> AsyncIterator[TransportStreams]:
    """Use a channel as a transport, and close it at the end."""
    try:
        yield ChannelReader(channel, guard), ChannelWriter(channel)
    finally:
        await channel.aclose()
