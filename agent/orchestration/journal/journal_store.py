"""What a store of the journal can do; `sqlite_store` and `postgres_store` implement it.

Calls block: `agent.orchestration.journal.journal` makes them in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent.orchestration.journal.journal_records import (
    Caps,
    Claim,
    RunChange,
    RunRecord,
    StepRecord,
    Wish,
    WorkflowState,
    WorkflowUsage,
)


class JournalError(Exception):
    """The store cannot be read or written; the text is the reason."""


class RunTakenError(JournalError):
    """Another process that is alive owns the run."""


class RunTable(Protocol):
    """The runs of a project."""

    def add(self, run: RunRecord) -> None:
        """Record a new run."""
        ...

    def get(self, run: str) -> RunRecord | None:
        """Return one run; None where there is none."""
        ...

    def newest(self, limit: int, name: str = "") -> Sequence[RunRecord]:
        """Return runs, the newest first; of one name, where there is one."""
        ...

    def take(self, run: str, owner: str, lease_s: float) -> RunRecord:
        """Make a process the owner; raises `RunTakenError` while another one is alive."""
        ...

    def renew(self, run: str, owner: str, lease_s: float) -> Wish:
        """Extend the leases of a run and its steps; return what others want, once."""
        ...

    def set_state(
        self,
        run: str,
        state: WorkflowState,
        *,
        reason: str = "",
        result: str = "",
        releases: bool = False,
    ) -> None:
        """Record a state; results of steps were recorded before.

        `releases` ends the owner's lease: any process may take the run.
        """
        ...

    def wish(self, run: str, wish: Wish) -> None:
        """Leave a wish for the owner."""
        ...

    def change(self, run: str, change: RunChange) -> None:
        """Raise or lower limits of a run, or replace the script of one that nobody works on."""
        ...


class StepTable(Protocol):
    """The steps of runs."""

    def claim(self, step: StepRecord, lease_s: float, caps: Caps) -> Claim:
        """Take a step for `step.owner`, or return why not; one transaction."""
        ...

    def remove_run(self, run: str) -> None:
        """Delete a run and its steps."""
        ...

    def finish(self, step: StepRecord) -> bool:
        """Record an ended step; False where another result is recorded already."""
        ...

    def of_run(self, run: str) -> Sequence[StepRecord]:
        """Return the steps in the order in which they were first started."""
        ...

    def usage(self, *, run: str = "", session: str = "") -> WorkflowUsage:
        """Return what was used by a run, or by all runs of a session."""
        ...

    def find_done(self, key: str, occurrence: int, session: str) -> StepRecord | None:
        """Return a finished step of another run of the session, the newest first."""
        ...


class JournalStore(Protocol):
    """Runs and steps. Every method raises `JournalError` where the store fails."""

    @property
    def runs(self) -> RunTable:
        """The table of runs."""
        ...

    @property
    def steps(self) -> StepTable:
        """The table of steps."""
        ...

    def close(self) -> None:
        """Release the store. Raises nothing."""
        ...
