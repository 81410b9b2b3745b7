"""What the journal stores: runs, their steps, and what happened when one was claimed."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, TypeAlias

from msgspec import Struct


class WorkflowState(StrEnum):
    """State of a run; its lease says whether its owner is still alive."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_over(self) -> bool:
        """Whether nothing of the run happens any more unless it is resumed."""
        return self in (WorkflowState.COMPLETED, WorkflowState.FAILED, WorkflowState.STOPPED)


class StepState(StrEnum):
    """State of a step; only `DONE` is reused."""

    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"
    """It ended at a limit: its text is shown, and the step runs again on a resume."""
    FAILED = "failed"


class Wish(StrEnum):
    """What another process wants of a run's owner."""

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
    """The script's file; empty where there is none."""
    args: str = "null"
    """JSON."""
    session: str = ""
    cwd: str = ""
    mode: str = ""
    """The permission mode of the session at the start, which is the ceiling of every agent."""
    state: WorkflowState = WorkflowState.QUEUED
    reason: str = ""
    """Why it is paused, failed or stopped."""
    wish: Wish = Wish.NONE
    owner: str = ""
    lease_until: float = 0.0
    """Unix time until which its owner certainly lives."""
    max_agents: int = 1000
    max_tokens: int | None = None
    budget_usd: float | None = None
    created_at: float = 0.0
    ended_at: float | None = None
    result: str = ""
    """JSON of what a script returned, or the text of a fan-out."""
    agents: int = 0
    """Agents started so far, over all attempts and processes."""


class StepRecord(Struct, frozen=True, kw_only=True):
    """One agent call of a run: `key` and `occurrence` name it."""

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
    """JSON of the answer; the text so far where it is `PARTIAL`, the reason where `FAILED`."""
    tokens: int = 0
    """Of all attempts, like the cost."""
    cost_usd: float | None = None
    transcript: str = ""
    """Where the agent's transcript lies; empty where there is none."""


class StepPlace(Struct, frozen=True):
    """A step of the journal, and the process that has it."""

    run: str
    key: str
    occurrence: int
    owner: str


class WorkflowUsage(Struct, frozen=True):
    """What agents of a run or a session used."""

    agents: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    is_cost_known: bool = True
    """False where a finished step has no price."""


class Reused(Struct, frozen=True):
    """The step is done: its result, and when it was recorded."""

    result: str
    ended_at: float


class Claimed(Struct, frozen=True):
    """The step is the caller's to run."""

    attempt: int
    near_caps: tuple[CapReached, ...] = ()
    """Limits of which most is used."""


class Busy(Struct, frozen=True):
    """Another process runs it, or as many agents run as may: ask again."""


class CapReached(Struct, frozen=True):
    """A limit: as an answer to a claim, no further agent may start."""

    of: Literal["run", "session"]
    used_amount: float
    cap: float
    unit: Literal["agents", "tokens", "dollars"] = "agents"

    @property
    def text(self) -> str:
        """What is used of what, for users."""
        if self.unit == "dollars":
            return f"${self.used_amount:.2f} of ${self.cap:.2f} of this {self.of} are used"
        return f"{self.used_amount:,.0f} of {self.cap:,.0f} {self.unit} of this {self.of} are used"


Claim: TypeAlias = Reused | Claimed | Busy | CapReached


class Caps(Struct, frozen=True):
    """How many agents may run at once, and what all runs of a session may use."""

    concurrent: int = 10
    session_agents: int = 400
    session_tokens: int | None = None
    session_usd: float | None = None


class RunChange(Struct, frozen=True):
    """New limits of a run, or its edited script; None leaves one as it is."""

    agents: int | None = None
    tokens: int | None = None
    usd: float | None = None
    script: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return self == UNCHANGED


UNCHANGED: Final = RunChange()
