"""Fan-out of agent events: one `emit`, one bounded buffer per listener.

An event is recorded before any listener receives it. A slow listener slows the producer;
nothing is dropped or reordered and memory does not grow (pattern "Bounded Buffer"). Producers are
coroutines that await `emit`; the one async generator is at the public edge
(`agent.conversation.conversation`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal

from msgspec import Struct

from agent.events import AgentEvent, Notice, Terminal

DEFAULT_BUFFER_EVENTS: Final = 32

Emit = Callable[[AgentEvent], Awaitable[None]]
"""Returns once the event is recorded and every listener has room for more."""
Record = Callable[[AgentEvent], Awaitable[Sequence[AgentEvent]]]
"""Records an event and returns the events to emit first; waits only after recording."""
Show = Callable[[AgentEvent], Awaitable[Sequence[AgentEvent]]]
"""Returns the events that replace an event for one listener, in order."""
Listener = Callable[[AgentEvent], None]
Work = Callable[[], Awaitable[None]]

_LOG: Final = logging.getLogger(__name__)


async def discard(_event: AgentEvent) -> None:
    """Drop an event: the `emit` of work without a listener."""


class Subscription:
    """One listener's events, in order, from the moment it subscribed."""

    def __init__(self, size: int = DEFAULT_BUFFER_EVENTS, show: Show | None = None) -> None:
        """Buffer `size` events before the producer waits; without `show`, events are unchanged."""
        self._size = size
        self.show = show
        self._events: deque[AgentEvent] = deque()
        self._is_ended = False
        self._ready = asyncio.Event()
        self.room = asyncio.Event()
        """Set while the buffer contains no more than its size."""
        self.room.set()

    def append(self, event: AgentEvent) -> None:
        """Buffer an event even if the buffer is full: the caller waits for `room` afterwards."""
        if self._is_ended:
            return
        self._events.append(event)
        self._ready.set()
        if len(self._events) > self._size:
            self.room.clear()

    async def put_shown(self, event: AgentEvent, show: Show) -> None:
        """Buffer what `show` returns for an event; if cancelled meanwhile, the event itself."""
        if self._is_ended:
            return
        try:
            events = await show(event)
        except asyncio.CancelledError:
            self.append(event)
            raise
        for item in events:
            self.append(item)

    def end(self) -> None:
        """End the subscription once the listener has read what is buffered."""
        self._is_ended = True
        self._ready.set()
        self.room.set()

    def leave(self) -> None:
        """Drop the buffered events; the producer no longer waits for this listener."""
        self.end()
        self._events.clear()

    def take_buffered(self) -> list[AgentEvent]:
        """Return what is buffered, and empty the buffer."""
        events = [*self._events]
        self._events.clear()
        self.room.set()
        return events

    async def next(self) -> AgentEvent | None:
        """Return the next event, or None at the end."""
        while not self._events:
            if self._is_ended:
                return None
            self._ready.clear()
            await self._ready.wait()
        event = self._events.popleft()
        if len(self._events) <= self._size:
            self.room.set()
        return event


class StreamRun:
    """Work in progress whose events are read with `next`."""

    def __init__(
        self,
        stream: EventStream,
        work: Work,
        events: Subscription,
        listeners: Sequence[Listener],
    ) -> None:
        """Start the work; made by `EventStream.start`."""
        self._stream = stream
        self._events = events
        self._task = asyncio.ensure_future(_produce(stream, work, listeners))

    async def next(self) -> AgentEvent | None:
        """Return the next event, or None after the last. Raises what the work raised."""
        event = await self._events.next()
        if event is None:
            await asyncio.wait({self._task})
            self._task.result()
        return event

    async def aclose(self) -> None:
        """Stop listening; unfinished work is cancelled and awaited."""
        self._events.leave()
        self._task.cancel()
        await asyncio.wait({self._task})
        self._stream.end()
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            _LOG.debug("a run that was left ended with an error", exc_info=error)


class EventStream:
    """The events of one conversation; outside of a run they have no listener and are dropped."""

    def __init__(self) -> None:
        """Start without listeners."""
        self._order = asyncio.Lock()
        self._subscriptions: list[Subscription] = []
        self._record: Record | None = None

    @property
    def is_open(self) -> bool:
        """Whether a run is in progress, so that events are recorded and received."""
        return self._record is not None

    def subscribe(
        self, size: int = DEFAULT_BUFFER_EVENTS, show: Show | None = None
    ) -> Subscription:
        """Add a listener with a buffer of `size` events, until the end of the run."""
        subscription = Subscription(size, show)
        # Subscriptions with `show` come last: a cancellation while it runs affects no other.
        self._subscriptions.insert(0 if show is None else len(self._subscriptions), subscription)
        return subscription

    def start(
        self,
        work: Work,
        record: Record,
        *,
        show: Show | None = None,
        listeners: Sequence[Listener] = (),
    ) -> StreamRun:
        """Start work that emits here; one run at a time.

        Args:
            work: ends the run when it returns or raises.
            record: awaited for each event before anybody receives it.
            show: transforms the events that the returned run yields.
            listeners: called for each event, each with its own buffer.
        """
        self._record = record
        return StreamRun(self, work, self.subscribe(show=show), listeners)

    async def emit(self, event: AgentEvent) -> None:
        """Record the event, pass it to every listener, wait for the slowest.

        Nothing follows the `Terminal` of the user's own agent. A cancellation loses no event: one
        that was recorded is received as well.
        """
        async with self._order:
            if self._record is None:
                return
            try:
                first = await self._record(event)
            except asyncio.CancelledError:
                self._append(event)
                raise
            if isinstance(event, Terminal) and event.agent_id is None:
                self._record = None
            for notice in first:
                self._append(notice)
            for subscription in self._subscriptions:
                if subscription.show is None:
                    subscription.append(event)
                else:
                    await subscription.put_shown(event, subscription.show)
            for subscription in self._subscriptions:
                await subscription.room.wait()

    def end(self) -> None:
        """End the run for every listener, after the events that were emitted."""
        self._record = None
        for subscription in self._subscriptions:
            subscription.end()
        self._subscriptions = []

    def _append(self, event: AgentEvent) -> None:
        for subscription in self._subscriptions:
            subscription.append(event)


class TurnEvents(Struct, frozen=True):
    """Where the events of one agent's turn are sent, and the two ids that each of them carries."""

    emit: Emit
    turn_id: str
    agent_id: str | None = None

    async def emit_all(self, events: Sequence[AgentEvent]) -> None:
        """Emit events in order."""
        for event in events:
            await self.emit(event)

    async def notice(self, level: Literal["info", "warning"], text: str) -> None:
        """Emit a line for the user."""
        await self.emit(Notice(self.turn_id, level, text, agent_id=self.agent_id))


async def _produce(stream: EventStream, work: Work, listeners: Sequence[Listener]) -> None:
    pumps = [asyncio.ensure_future(_pump(stream.subscribe(), listener)) for listener in listeners]
    try:
        await work()
    finally:
        stream.end()
        if pumps:
            await asyncio.wait(pumps)


async def _pump(events: Subscription, listener: Listener) -> None:
    """Call a listener for each event; one that raises receives no more."""
    try:
        while (event := await events.next()) is not None:
            listener(event)
    except Exception:  # noqa: BLE001 - isolation boundary: a defect stops only this listener
        _LOG.exception("a listener of the event stream failed")
        events.leave()
