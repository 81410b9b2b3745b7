"""Live output of one call for the listeners, coalesced while they are slow.

A command that prints 10 MB per second fills a bounded buffer, not a queue of a million events.
"""

from __future__ import annotations

import asyncio
from typing import Final

from agent.events import ToolProgress
from agent.stream import TurnEvents
from permissions.base.text.sanitize import Sanitizer

MAX_PENDING_CHARS: Final = 64_000
"""Live output buffered per call; more is cut from the front, with a line that reports it."""


class LiveOutput:
    """Accepts text at any rate and emits it as `ToolProgress`."""

    def __init__(self, events: TurnEvents, tool_use_id: str) -> None:
        """Emit to `events`."""
        self._events = events
        self._tool_use_id = tool_use_id
        self._pending = ""
        self._is_cut = False
        self._sanitizer = Sanitizer()
        self._emitting: asyncio.Task[None] | None = None

    def add(self, text: str) -> None:
        """Append text. Never blocks, buffers at most `MAX_PENDING_CHARS`."""
        self._pending += text
        if len(self._pending) > MAX_PENDING_CHARS:
            self._pending = self._pending[-MAX_PENDING_CHARS // 2 :]
            self._is_cut = True
        if self._emitting is None:
            self._emitting = asyncio.ensure_future(self._emit())

    async def flush(self) -> None:
        """Return once everything is emitted."""
        if (emitting := self._emitting) is not None:
            await asyncio.wait({emitting})
            emitting.result()

    async def aclose(self) -> None:
        """Drop what has not been emitted."""
        if (emitting := self._emitting) is not None:
            emitting.cancel()
            await asyncio.wait({emitting})

    async def _emit(self) -> None:
        try:
            while self._pending:
                text = self._take()
                if text:
                    await self._events.emit(
                        ToolProgress(
                            self._events.turn_id,
                            self._tool_use_id,
                            text,
                            agent_id=self._events.agent_id,
                        )
                    )
        finally:
            self._emitting = None

    def _take(self) -> str:
        text, is_cut = self._pending, self._is_cut
        self._pending, self._is_cut = "", False
        if not is_cut:
            return self._sanitizer.feed(text)
        self._sanitizer = Sanitizer()
        text = self._sanitizer.feed(text.split("\n", 1)[-1])
        return f"\n[output faster than the screen: some lines left out here]\n{text}"
