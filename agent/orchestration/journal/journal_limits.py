"""Limits of a run and of its session: agents, tokens and dollars, counted by the journal.

The counts are derived from recorded steps, so that a restart resets nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from agent.orchestration.journal.journal_records import (
    Busy,
    CapReached,
    Caps,
    RunRecord,
    WorkflowUsage,
)

SOFT: Final = 0.8
"""Share of a limit at which users get a notice."""


class _Limit(Struct, frozen=True):
    of: Literal["run", "session"]
    unit: Literal["agents", "tokens", "dollars"]
    used_amount: float
    cap: float
    each: float
    """Mean usage of an agent."""

    def project_use(self, agents: int) -> float:
        """Return the expected usage once `agents` more agents have ended."""
        return self.used_amount + self.each * agents


def limit_reached(
    run: RunRecord,
    working: int,
    run_usage: WorkflowUsage,
    session_usage: WorkflowUsage | None,
    caps: Caps,
) -> CapReached | Busy | None:
    """Return why no further agent may start now; None if one may.

    The expected cost of an agent is the mean so far: if those at work could exceed a limit, the
    next one waits until their cost is known.
    """
    limits = list(_limits(run, working, run_usage, session_usage, caps))
    for limit in limits:
        if limit.used_amount >= limit.cap or limit.project_use(1) > limit.cap:
            return CapReached(limit.of, limit.used_amount, limit.cap, limit.unit)
    if working and any(limit.project_use(1 + working) > limit.cap for limit in limits):
        return Busy()
    return None


def near_limits(
    run: RunRecord, run_usage: WorkflowUsage, session_usage: WorkflowUsage | None, caps: Caps
) -> tuple[CapReached, ...]:
    """Return the limits whose usage has reached the share `SOFT`."""
    return tuple(
        CapReached(limit.of, limit.used_amount, limit.cap, limit.unit)
        for limit in _limits(run, 0, run_usage, session_usage, caps)
        if limit.used_amount >= SOFT * limit.cap
    )


def _limits(
    run: RunRecord,
    working: int,
    run_usage: WorkflowUsage,
    session_usage: WorkflowUsage | None,
    caps: Caps,
) -> Iterator[_Limit]:
    run_caps = (run.max_agents, run.max_tokens, run.budget_usd)
    yield from _limits_of("run", run_usage, working, run_caps)
    if session_usage is not None:
        session_caps = (caps.session_agents, caps.session_tokens, caps.session_usd)
        yield from _limits_of("session", session_usage, working, session_caps)


def _limits_of(
    of: Literal["run", "session"],
    usage: WorkflowUsage,
    working: int,
    caps: tuple[int, int | None, float | None],
) -> Iterator[_Limit]:
    agents, tokens, dollars = caps
    finished_agents = max(1, usage.agents - working)
    yield _Limit(of, "agents", usage.agents, agents, 0)
    if tokens is not None:
        yield _Limit(of, "tokens", usage.tokens, tokens, usage.tokens / finished_agents)
    if dollars is not None:
        yield _Limit(of, "dollars", usage.cost_usd, dollars, usage.cost_usd / finished_agents)
