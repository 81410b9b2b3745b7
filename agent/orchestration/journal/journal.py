"""The journal of one process: it never discards a computed result, and never blocks the event loop.

A failing store does not end a run: records stay in memory, are written again when leases are
renewed, and the user gets a notice (reference page `orchestration-mode`: the journal is best
effort, a computed result is never discarded).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from agent.orchestration.journal.journal_error import (
    JournalError,
    RunTakenError,
    UnknownRunError,
)
from agent.orchestration.journal.journal_limits import limit_reached
from agent.orchestration.journal.journal_records import (
    Caps,
    Claim,
    Claimed,
    OwnerRequest,
    Reused,
    RunRecord,
    StepRecord,
    StepState,
    WorkflowState,
    WorkflowUsage,
)

if TYPE_CHECKING:
    # Loaded when a journal is opened.
    from agent.orchestration.journal.journal_store import JournalStore

LEASE_S: Final = 15.0
RENEW_S: Final = 0.5
"""Interval in which leases are renewed, and requests of other processes are read."""
AGAIN_S: Final = 5.0
"""Interval between attempts with a failing store, as each may wait for a lock."""
Result = TypeVar("Result")


class Journal:
    """The store, in its own thread, with the records that could not be written yet."""

    def __init__(
        self,
        open_store: Callable[[], JournalStore],
        warn: Callable[[str], None],
        *,
        lease_s: float = LEASE_S,
    ) -> None:
        """The store is opened at the first use.

        Args:
            open_store: May raise `JournalError`.
            warn: Shows a line to the user.
        """
        self._open_store = open_store
        self._warn = warn
        self._lease_s = lease_s
        self._store: JournalStore | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        self._unwritten: dict[tuple[str, str, int], StepRecord] = {}
        self._unwritten_runs: dict[str, RunRecord] = {}
        self._unwritten_states: dict[str, Callable[[JournalStore], None]] = {}
        self._usage_by_run: dict[str, WorkflowUsage] = {}
        """Usage by run in this process, so that limits apply while the store fails, too."""
        self._failure: JournalError | None = None
        self._again_at = 0.0
        self._is_trying = False
        self._has_warned = False

    async def ask(self, question: Callable[[JournalStore], Result]) -> Result:
        """Call the store in its thread.

        Raises `JournalError`; immediately, until a failed store is due for another attempt.
        """
        loop = asyncio.get_running_loop()
        if (failure := self._failure) is not None:
            if self._is_trying or loop.time() < self._again_at:
                raise failure
            self._is_trying = True
        try:
            result = await loop.run_in_executor(
                self._thread, lambda: question(self._require_store())
            )
        except (RunTakenError, UnknownRunError):
            self._failure = None
            raise
        except JournalError as error:
            self._failure, self._again_at = error, loop.time() + AGAIN_S
            raise
        else:
            self._failure = None
            return result
        finally:
            if failure is not None:
                self._is_trying = False

    async def claim(self, step: StepRecord, run: RunRecord, caps: Caps) -> Claim:
        """Claim a step.

        If the store fails, the claim succeeds, unless this process knows the step's result or the
        run has reached a limit here.
        """
        unwritten_step = self._unwritten.get((step.run, step.key, step.occurrence))
        if unwritten_step is not None and unwritten_step.state is StepState.DONE:
            return Reused(unwritten_step.result, unwritten_step.ended_at or 0.0)
        try:
            await self._retry_run_writes()
            claim = await self.ask(lambda store: store.steps.claim(step, self._lease_s, caps))
        except JournalError as error:
            self._report(error)
            usage = self._usage_by_run.get(run.id, WorkflowUsage())
            claim = limit_reached(run, 0, usage, None, caps) or Claimed(1)
        if isinstance(claim, Claimed):
            self._count(run.id, agents=1)
        return claim

    async def finish(self, step: StepRecord) -> None:
        """Record an ended step; if the store fails, later."""
        self._count(step.run, tokens=step.tokens, cost_usd=step.cost_usd or 0.0)
        try:
            await self.ask(partial(_finish, step=step))
        except JournalError as error:
            self._unwritten[step.run, step.key, step.occurrence] = step
            self._report(error)

    async def renew(self, run: str, owner: str) -> OwnerRequest:
        """Extend the leases of a run and write pending records; return a request to its owner.

        Raises `RunTakenError` if the run has another owner by now.
        """
        try:
            await self._retry_run_writes()
            request = await self.ask(lambda store: store.runs.renew(run, owner, self._lease_s))
            await self._retry_writes()
        except RunTakenError:
            raise
        except JournalError as error:
            self._report(error)
            return OwnerRequest.NONE
        return request

    async def set_state(
        self,
        run: str,
        owner: str,
        state: WorkflowState,
        *,
        reason: str = "",
        result: str = "",
        releases: bool = False,
    ) -> None:
        """Record the state of a run, after the results of its steps.

        No effect if the run has another owner by now.
        `releases`: the run ended here, and another process may take it from now on.
        """

        def change(store: JournalStore) -> None:
            store.runs.set_state(run, owner, state, reason=reason, result=result, releases=releases)

        self._unwritten_states.pop(run, None)
        try:
            await self._retry_run_writes()
            await self._retry_writes()
            await self.ask(change)
        except JournalError as error:
            self._unwritten_states[run] = change
            self._report(error)

    async def usage(self, *, run: str = "", session: str = "") -> WorkflowUsage:
        """Return the usage of a run or a session; zero if the store fails."""
        try:
            return await self.ask(lambda store: store.steps.usage(run=run, session=session))
        except JournalError as error:
            self._report(error)
            return WorkflowUsage()

    async def add(self, run: RunRecord) -> None:
        """Record a new run, which this process owns; if the store fails, later."""
        self._unwritten_runs[run.id] = run
        try:
            await self._retry_run_writes()
        except JournalError as error:
            self._report(error)

    async def aclose(self) -> None:
        """Write pending records and close the store."""
        self._again_at = 0.0  # one last attempt
        try:
            await self._retry_run_writes()
            await self._retry_writes()
        except JournalError as error:
            self._report(error)
        finally:
            if self._store is not None:
                await asyncio.get_running_loop().run_in_executor(self._thread, self._store.close)
                self._store = None
            self._thread.shutdown(wait=False)
            for unwritten in (self._unwritten, self._unwritten_runs, self._unwritten_states):
                unwritten.clear()

    def _count(self, run: str, *, agents: int = 0, tokens: int = 0, cost_usd: float = 0.0) -> None:
        usage = self._usage_by_run.get(run, WorkflowUsage())
        self._usage_by_run[run] = WorkflowUsage(
            usage.agents + agents, usage.tokens + tokens, usage.cost_usd + cost_usd
        )

    async def _retry_run_writes(self) -> None:
        for run in tuple(self._unwritten_runs.values()):
            await self.ask(partial(_begin, run=run, lease_s=self._lease_s))
            self._unwritten_runs.pop(run.id, None)

    async def _retry_writes(self) -> None:
        for place, step in tuple(self._unwritten.items()):
            await self.ask(partial(_finish, step=step))
            self._unwritten.pop(place, None)
        for run, change in tuple(self._unwritten_states.items()):
            await self.ask(change)
            self._unwritten_states.pop(run, None)
        if self._has_warned and self._failure is None:
            self._has_warned = False
            self._warn("The journal of workflows can be written again; results are recorded.")

    def _require_store(self) -> JournalStore:
        if self._store is None:
            self._store = self._open_store()
        return self._store

    def _report(self, error: JournalError) -> None:
        if not self._has_warned:
            self._has_warned = True
            self._warn(
                f"The journal of workflows cannot be written ({error}). Results stay in memory; "
                "a run that ends now cannot be resumed."
            )


def _begin(store: JournalStore, *, run: RunRecord, lease_s: float) -> None:
    if store.runs.get(run.id) is None:
        store.runs.add(run)
    store.runs.take(run.id, run.owner, lease_s)


def _finish(store: JournalStore, *, step: StepRecord) -> bool:
    return store.steps.finish(step)
