"""Agents with the same prompt prefix wait until the first one has filled the prompt cache.

The limit of the wait is that of other programs with this kind of workflow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Final

STAGGER_S: Final = 5.0
"""Longest wait for the first agent's answer, in seconds."""
WARM_S: Final = 240.0
"""How long, in seconds, a cache counts as warm after its last use; it lasts five minutes."""


class PrefixStagger:
    """Lets one agent of each kind start, and the others once its answer has begun."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        """`clock` returns seconds; the default is the event loop's."""
        self._clock = clock
        self._first_agents: dict[Hashable, tuple[asyncio.Event, float]] = {}

    async def wait(self, kind: Hashable) -> Callable[[], None]:
        """Wait for the first agent of a kind; return a function to call when the answer begins."""
        now = (self._clock or asyncio.get_running_loop().time)()
        first_agent = self._first_agents.get(kind)
        if first_agent is None or (first_agent[0].is_set() and now - first_agent[1] > WARM_S):
            first = asyncio.Event()
            self._first_agents[kind] = (first, now)
            return first.set
        event, _ = first_agent
        if not event.is_set():
            try:
                async with asyncio.timeout(STAGGER_S):
                    await event.wait()
            except TimeoutError:
                event.set()  # the others need not wait as long again
        self._first_agents[kind] = (event, now)
        return event.set
