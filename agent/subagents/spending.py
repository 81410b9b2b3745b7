"""Limits on the usage of agents: the user may raise them; without a user they apply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from agent.subagents.agent_limits import AgentCaps, LimitQuestion
from agent.subagents.running_agent import RunningAgent

NumberT = TypeVar("NumberT", int, float)


class Spending:
    """The limits in force: the configured ones, plus what the user added."""

    def __init__(
        self, caps: AgentCaps, ask: LimitQuestion, agents: Callable[[], Sequence[RunningAgent]]
    ) -> None:
        """`agents` returns the agents of the session."""
        self._caps = caps
        self._ask = ask
        self._agents = agents
        self._starts = caps.starts
        self._tokens, self._usd = caps.tokens, caps.usd
        self._each: dict[str, tuple[int | None, float | None]] = {}
        self._refusals: dict[str | None, str] = {}
        self._one_question = asyncio.Lock()

    def exhaustion_reason(self, agent: RunningAgent) -> str | None:
        """Return why an agent may make no further request, or None."""
        return self._refusals.get(None) or self._refusals.get(agent.id)

    async def may_start(self, start_count: int) -> bool:
        """Return whether another agent may be started after `start_count` starts."""
        async with self._one_question:
            if start_count < self._starts:
                return True
            more = self._caps.starts
            if not await self._ask(
                f"{start_count} agents were started in this session, which is the limit. "
                f"Allow {more} more?"
            ):
                return False
            self._starts += more
            return True

    async def check(self, agent: RunningAgent) -> None:
        """Ask the user if an agent, or all agents together, reached a limit."""
        async with self._one_question:
            if self.exhaustion_reason(agent) is not None:
                return
            await self._check_all()
            await self._check_one(agent)

    async def _check_all(self) -> None:
        agents = self._agents()
        tokens, usd = sum(a.use.tokens for a in agents), sum(a.use.usd for a in agents)
        limit_text = _limit_text(tokens, self._tokens, usd, self._usd)
        if limit_text is None:
            return
        text = f"The agents of this session have used {limit_text}, which is the limit."
        if not await self._ask(f"{text} Allow as much again?"):
            self._refusals[None] = text
            return
        self._tokens = _raised_limit(self._tokens, tokens, self._caps.tokens)
        self._usd = _raised_limit(self._usd, usd, self._caps.usd)

    async def _check_one(self, agent: RunningAgent) -> None:
        caps = self._caps
        tokens, usd = self._each.get(agent.id, (caps.tokens_each, caps.usd_each))
        limit_text = _limit_text(agent.use.tokens, tokens, agent.use.usd, usd)
        if limit_text is None:
            return
        text = f"The agent {agent.id} has used {limit_text}, which is its limit."
        if not await self._ask(f"{text} Allow as much again?"):
            self._refusals[agent.id] = text
            return
        self._each[agent.id] = (
            _raised_limit(tokens, agent.use.tokens, caps.tokens_each),
            _raised_limit(usd, agent.use.usd, caps.usd_each),
        )


def _limit_text(
    tokens: int, most_tokens: int | None, usd: float, most_usd: float | None
) -> str | None:
    if most_tokens is not None and tokens >= most_tokens:
        return f"{tokens:,} tokens"
    if most_usd is not None and usd >= most_usd:
        return f"${usd:.2f}"
    return None


def _raised_limit(limit: NumberT | None, amount: NumberT, step: NumberT | None) -> NumberT | None:
    """Return a limit that was reached raised to the used amount plus `step`."""
    return limit if limit is None or step is None or amount < limit else amount + step
