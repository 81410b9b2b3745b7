"""The records of the journal: runs, their steps, and the results of a claim."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, TypeAlias

from msgspec import Struct


class WorkflowState(StrEnum):
    """State of a run; its lease shows whether its owner is alive."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, unless it is resumed."""
        return self in (WorkflowState.COMPLETED, WorkflowState.FAILED, WorkflowState.STOPPED)


class StepState(StrEnum):
    """State of a step; only `DONE` is reused."""

    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"
    """It ended at a limit: its text is shown, and the step runs again when the run is resumed."""
    FAILED = "failed"


class OwnerRequest(StrEnum):
    """What another process asks of a run's owner."""

    NONE = ""
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"


class RunRecord(Struct, frozen=True, kw_only=True):
    """One run."""

    id: str
    name: str
    kind: str
    """`subtasks` or `script`."""
    script: str
    """The script's text, or the subtasks as a JSON list."""
    script_hash: str = ""
    path: str = ""
    """The script's file; empty if there is none."""
    args: str = "null"
    """JSON."""
    session: str = ""
    cwd: str = ""
    mode: str = ""
    """The permission mode of the session at the start, which is the ceiling of every agent."""
    state: WorkflowState = WorkflowState.QUEUED
    reason: str = ""
    """Why it is paused, failed or stopped."""
    wish: OwnerRequest = OwnerRequest.NONE
    owner: str = ""
    lease_until: float = 0.0
    """Unix time until which its owner counts as alive."""
    max_agents: int = 1000
    max_tokens: int | None = None
    budget_usd: float | None = None
    created_at: float = 0.0
    ended_at: float | None = None
    result: str = ""
    """JSON of a script's return value, or the text of a fan-out."""
    agents: int = 0
    """Agents started so far, over all attempts and processes."""


class StepRecord(Struct, frozen=True, kw_only=True):
    """One agent call of a run, identified by `key` and `occurrence`."""

    run: str
    key: str
    occurrence: int = 0
    state: StepState = StepState.RUNNING
    owner: str = ""
    lease_until: float = 0.0
    attempts: int = 0
    label: str = ""
    phase: str = ""
    prompt: str = ""
    started_at: float = 0.0
    ended_at: float | None = None
    result: str = ""
    """JSON of the answer; the text so far if `PARTIAL`, the reason if `FAILED`."""
    tokens: int = 0
    """Tokens of all attempts, like the cost."""
    cost_usd: float | None = None
    transcript: str = ""
    """Path of the agent's transcript; empty if there is none."""


class StepPlace(Struct, frozen=True):
    """A step of the journal, and the process that owns it."""

    run: str
    key: str
    occurrence: int
    owner: str


class WorkflowUsage(Struct, frozen=True):
    """Usage of the agents of a run or a session."""

    agents: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    is_cost_known: bool = True
    """False if a finished step has no price."""


class Reused(Struct, frozen=True):
    """The step is done: its result, and its Unix time of completion."""

    result: str
    ended_at: float


class Claimed(Struct, frozen=True):
    """The step is the caller's to run."""

    attempt: int
    near_caps: tuple[CapReached, ...] = ()
    """Limits that are nearly reached."""


class Busy(Struct, frozen=True):
    """Another process runs it, or too many agents run: ask again later."""


class CapReached(Struct, frozen=True):
    """A limit and its usage; as the result of a claim, no further agent may start."""

    of: Literal["run", "session"]
    used_amount: float
    cap: float
    unit: Literal["agents", "tokens", "dollars"] = "agents"

    @property
    def text(self) -> str:
        """The usage and the limit, for users."""
        if self.unit == "dollars":
            return f"${self.used_amount:.2f} of ${self.cap:.2f} of this {self.of} are used"
        return f"{self.used_amount:,.0f} of {self.cap:,.0f} {self.unit} of this {self.of} are used"


Claim: TypeAlias = Reused | Claimed | Busy | CapReached


class Caps(Struct, frozen=True):
    """Most concurrent agents, and limits for all runs of a session."""

    concurrent: int = 10
    session_agents: int = 400
    session_tokens: int | None = None
    session_usd: float | None = None


class RunChange(Struct, frozen=True):
    """New limits of a run, or its edited script; None leaves a value unchanged."""

    agents: int | None = None
    tokens: int | None = None
    usd: float | None = None
    script: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return self == UNCHANGED


UNCHANGED: Final = RunChange()
