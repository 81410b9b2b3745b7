"""The interface between a run and the agents of a session: orders and answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from agent.abort import AbortSignal
from agent.orchestration.journal.journal_records import StepPlace, StepState

MAX_TURNS = 15
"""Model calls of one agent (reference page `orchestration-mode`, MAX_SUBAGENT_TURNS)."""
MISFORMED: Final = "InvalidAnswer: "
"""Prefix of the reason if an agent's answer never matched the schema."""


class AgentOrder(Struct, frozen=True, kw_only=True):
    """One agent to run."""

    prompt: str
    run: str = ""
    """Id of the run."""
    label: str = ""
    phase: str = ""
    schema: Mapping[str, object] | None = None
    """JSON schema of the answer; None: the agent's text."""
    reports_findings: bool = False
    """Whether the answer is the input of `report_findings`, as JSON."""
    model: str | None = None
    effort: str | None = None
    agent_type: str = ""
    isolation: str = ""
    """`worktree`: run in its own checkout."""
    attempt: int = 1
    place: StepPlace | None = None
    """Set once its step is claimed."""

    def key_options(self) -> dict[str, object]:
        """Return the options that are part of the step's key."""
        return {
            "schema": self.schema,
            "findings": self.reports_findings,
            "model": self.model,
            "effort": self.effort,
            "agentType": self.agent_type,
            "isolation": self.isolation,
        }


class AgentAnswer(Struct, frozen=True, kw_only=True):
    """The outcome of an agent."""

    state: StepState
    """`DONE` with a complete answer, `PARTIAL` at a limit, `FAILED` otherwise."""
    value: object = None
    """JSON value: the text, or a value of the schema; the text so far if it is partial."""
    reason: str = ""
    """Why it is partial or failed, with the kind of the error."""
    tokens: int = 0
    cost_usd: float | None = None
    transcript: str = ""
    retry_after_s: float | None = None
    """Set if the endpoint had no capacity: seconds until a retry."""

    @property
    def is_misformed(self) -> bool:
        """Whether it failed because no answer matched the schema."""
        return self.state is StepState.FAILED and self.reason.startswith(MISFORMED)


RunAgent: TypeAlias = Callable[[AgentOrder, AbortSignal], Awaitable[AgentAnswer]]
"""Runs an agent to its end. Raises only CancelledError."""
