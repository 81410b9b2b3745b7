"""Where running tool calls put their events, so that one generator can yield them in order.

Live output is coalesced per call: a command that prints 10 MB a second costs a bounded buffer,
not a queue of a million events.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from agent.events import AgentEvent, ToolProgress
from permissions.base.text.sanitize import Sanitizer

MAX_PENDING_CHARS: Final = 64_000
"""Live output kept per call between two drains; more is cut from the front and said so."""


class _Progress:
    __slots__ = ("cut", "pending", "sanitizer")

    def __init__(self) -> None:
        self.pending = ""
        self.cut = False
        self.sanitizer = Sanitizer()


class Emitter:
    """Collects events of concurrent calls; `drain` yields them, live output last of each call."""

    def __init__(self, turn_id: str, agent_id: str | None) -> None:
        """Events made here carry these two ids."""
        self.turn_id = turn_id
        self.agent_id = agent_id
        self._events: deque[AgentEvent] = deque()
        self._progress: dict[str, _Progress] = {}
        self._wake = asyncio.Event()

    def emit(self, event: AgentEvent) -> None:
        """Queue an event; live output of the same call that came before stays before it."""
        tool_use_id = getattr(event, "tool_use_id", None)
        if event.type == "tool_result" and tool_use_id in self._progress:
            self._flush(str(tool_use_id))
            del self._progress[str(tool_use_id)]
        self._events.append(event)
        self._wake.set()

    def progress(self, tool_use_id: str, text: str) -> None:
        """Append live output of a call. Never blocks, keeps at most `MAX_PENDING_CHARS`."""
        state = self._progress.setdefault(tool_use_id, _Progress())
        state.pending += text
        if len(state.pending) > MAX_PENDING_CHARS:
            state.pending = state.pending[-MAX_PENDING_CHARS // 2 :]
            state.cut = True
        self._wake.set()

    def wake(self) -> None:
        """Make a waiting `wait` return."""
        self._wake.set()

    async def wait(self) -> None:
        """Return once there may be something to drain."""
        await self._wake.wait()

    def drain(self) -> list[AgentEvent]:
        """Return what is queued now; empty when nothing is."""
        self._wake.clear()
        for tool_use_id in self._progress:
            self._flush(tool_use_id)
        events = list(self._events)
        self._events.clear()
        return events

    def _flush(self, tool_use_id: str) -> None:
        state = self._progress[tool_use_id]
        if not state.pending:
            return
        text, cut = state.pending, state.cut
        state.pending, state.cut = "", False
        if cut:
            state.sanitizer = Sanitizer()
            text = text.split("\n", 1)[-1]
        text = state.sanitizer.feed(text)
        if cut:
            text = "\n[output faster than the screen: some lines left out here]\n" + text
        if text:
            self._events.append(
                ToolProgress(self.turn_id, tool_use_id, text, agent_id=self.agent_id)
            )


class SideEvents:
    """Lets work inside a tool call (a sub-agent) put events into the stream of the turn it
    serves."""

    def __init__(self) -> None:
        """Without a target events are dropped: nobody is listening."""
        self._target: Emitter | None = None

    def attach(self, emitter: Emitter) -> None:
        """Send events to the emitter of the turn that runs now."""
        self._target = emitter

    def emit(self, event: AgentEvent) -> None:
        """Put one event into the running turn."""
        if self._target is not None:
            self._target.emit(event)
