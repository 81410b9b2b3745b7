"""A short head start for permission hooks, so that a dialog they make unnecessary is never
drawn."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from permissions.decision import Decision
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender

HEAD_START_S: Final = 0.25
"""Longer than most hooks take to answer, too short for a user to notice."""


class HookHeadStart:
    """Two contenders of one race: `second` waits for `first`, at most `limit_s` seconds.

    `second` stops waiting once `first` ends without an answer, and never waits if it did not start.
    """

    def __init__(
        self, first: Contender, second: Contender, *, limit_s: float = HEAD_START_S
    ) -> None:
        """Wrap two contenders; add `first` and `second` to the race, in this order."""
        end_events: dict[str, asyncio.Event] = {}
        self.first: Final = _First(first, end_events)
        self.second: Final = _Second(second, end_events, limit_s)


class _First:
    def __init__(self, inner: Contender, end_events: dict[str, asyncio.Event]) -> None:
        self._inner = inner
        self._end_events = end_events

    @property
    def name(self) -> str:
        return self._inner.name

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        end_event = self._end_events[request.request_id] = asyncio.Event()
        answer = None
        try:
            answer = await self._inner.decide(request, pending)
        finally:
            if answer is None:
                # An answer ends the race, which cancels the waiting contender.
                end_event.set()
            del self._end_events[request.request_id]
        return answer


class _Second:
    def __init__(
        self, inner: Contender, end_events: dict[str, asyncio.Event], limit_s: float
    ) -> None:
        self._inner = inner
        self._end_events = end_events
        self._limit_s = limit_s

    @property
    def name(self) -> str:
        return self._inner.name

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        end_event = self._end_events.get(request.request_id)
        if end_event is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limit_s):
                    await end_event.wait()
        return await self._inner.decide(request, pending)


if TYPE_CHECKING:

    def _check_protocol(start: HookHeadStart) -> tuple[Contender, Contender]:
        return start.first, start.second
