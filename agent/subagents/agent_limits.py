"""Limits on the number, depth and usage of agents."""

from __future__ import annotations

import asyncio
from typing import Literal, Protocol

from msgspec import Struct

FailurePolicy = Literal["continue", "cancel", "retry"]
"""What happens when one of the agents of an answer fails: the others continue, the others are
ended, or the failed one is tried once more."""


class AgentCaps(Struct, frozen=True):
    """Limits of a session's agents; None means unlimited."""

    concurrent: int = 10
    depth: int = 3
    starts: int = 200
    """Starts in a session, in whatever way."""
    tokens: int | None = None
    """Sum for all agents."""
    usd: float | None = None
    tokens_each: int | None = None
    usd_each: float | None = None
    stall_s: float = 600.0
    on_failure: FailurePolicy = "continue"


class LimitQuestion(Protocol):
    """Asks the user at a limit."""

    async def __call__(self, text: str) -> bool:
        """Return whether work may continue; False without a user."""
        ...


class AgentSlots:
    """Slots for concurrent agents; an agent that waits for its own agents returns its slot."""

    def __init__(self, count: int) -> None:
        """Provide `count` slots."""
        self._room = asyncio.Semaphore(count)
        self._holders: set[str] = set()

    async def take(self, agent_id: str) -> None:
        """Wait for a slot."""
        await self._room.acquire()
        self._holders.add(agent_id)

    def give_back(self, agent_id: str) -> bool:
        """Release an agent's slot; return False if it has none."""
        if agent_id not in self._holders:
            return False
        self._holders.discard(agent_id)
        self._room.release()
        return True
