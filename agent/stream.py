"""Fan-out of agent events through one bounded buffer per consumer.

A slow consumer slows the producer; nothing is dropped or reordered and memory does not grow
(pattern "Bounded Buffer"). The loop produces, the screen, transcript, log and headless JSON
consume.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from agent.events import AgentEvent

DEFAULT_BUFFER_EVENTS: Final = 32


class Subscription:
    """One consumer's view of the stream, in order, from the moment it subscribed."""

    def __init__(self, stream: EventStream, size: int) -> None:
        """Made by `EventStream.subscribe`; `size` is in events."""
        self._stream = stream
        self._buffer: asyncio.Queue[AgentEvent | None] = asyncio.Queue(maxsize=size)
        self._closed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        """Whether the consumer has left."""
        return self._closed.is_set()

    async def put(self, event: AgentEvent | None) -> None:
        """Wait for room, then hand over; return at once when the consumer left."""
        if self.is_closed:
            return
        try:
            self._buffer.put_nowait(event)
            return
        except asyncio.QueueFull:
            pass
        putting = asyncio.ensure_future(self._buffer.put(event))
        leaving = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({putting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()
            leaving.cancel()

    def close(self) -> None:
        """Leave: buffered events are dropped and the producer no longer waits for this consumer."""
        self._closed.set()
        self._stream.remove(self)

    def drain(self) -> list[AgentEvent]:
        """Return what is buffered right now without waiting; the end of the stream closes the
        view."""
        events: list[AgentEvent] = []
        while not self._buffer.empty():
            event = self._buffer.get_nowait()
            if event is None:
                self.close()
                break
            events.append(event)
        return events

    async def __aiter__(self) -> AsyncIterator[AgentEvent]:
        """Yield events until the stream ends or the consumer leaves."""
        try:
            while not self.is_closed:
                event = await self._buffer.get()
                if event is None:
                    return
                yield event
        finally:
            self.close()


class EventStream:
    """The producer's side: publish to every consumer, then close."""

    def __init__(self) -> None:
        """Start without consumers; publishing then costs nothing."""
        self._subscriptions: list[Subscription] = []

    def subscribe(self, size: int = DEFAULT_BUFFER_EVENTS) -> Subscription:
        """Add a consumer with room for `size` events."""
        subscription = Subscription(self, size)
        self._subscriptions.append(subscription)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        """Forget a consumer; unknown ones are ignored."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    async def publish(self, event: AgentEvent) -> None:
        """Hand the event to every consumer, waiting for the slowest."""
        for subscription in tuple(self._subscriptions):
            await subscription.put(event)

    async def close(self) -> None:
        """End the stream: consumers see everything published before, then the end."""
        for subscription in tuple(self._subscriptions):
            await subscription.put(None)
