"""How many agents there may be, how deep, and what they may use."""

from __future__ import annotations

import asyncio
from typing import Literal, Protocol

from msgspec import Struct

FailurePolicy = Literal["continue", "cancel", "retry"]
"""What becomes of the agents of one answer when one of them fails: the others continue, they are
ended, or the one that failed is tried once more."""


class AgentCaps(Struct, frozen=True):
    """Limits of a session's agents; None means unlimited."""

    concurrent: int = 10
    depth: int = 3
    starts: int = 200
    """However they are started."""
    tokens: int | None = None
    """Of all agents together."""
    usd: float | None = None
    tokens_each: int | None = None
    usd_each: float | None = None
    stall_s: float = 600.0
    on_failure: FailurePolicy = "continue"


class LimitQuestion(Protocol):
    """Asks the user at a limit."""

    async def __call__(self, text: str) -> bool:
        """Return whether it may continue; False without a user to ask."""
        ...


class AgentSlots:
    """Room for agents that work at once; who waits for agents of its own has none meanwhile."""

    def __init__(self, count: int) -> None:
        """Have room for this many."""
        self._room = asyncio.Semaphore(count)
        self._holders: set[str] = set()

    async def take(self, agent_id: str) -> None:
        """Wait for a slot."""
        await self._room.acquire()
        self._holders.add(agent_id)

    def give_back(self, agent_id: str) -> bool:
        """Return an agent's slot; False where it has none."""
        if agent_id not in self._holders:
            return False
        self._holders.discard(agent_id)
        self._room.release()
        return True
