"""The journal of one process: it never discards a computed result, and never blocks the loop.

A store that fails does not end a run: results stay in memory, are written again with each renewal
of the leases, and the user gets one notice (reference page `orchestration-mode`: the journal is
best effort, a computed result is never discarded).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from agent.orchestration.journal.journal_error import JournalError, RunTakenError
from agent.orchestration.journal.journal_records import (
    Caps,
    Claim,
    Claimed,
    Reused,
    RunRecord,
    StepRecord,
    StepState,
    Wish,
    WorkflowState,
    WorkflowUsage,
)

if TYPE_CHECKING:
    # Loaded when a journal is opened.
    from agent.orchestration.journal.journal_store import JournalStore

LEASE_S: Final = 15.0
RENEW_S: Final = 0.5
"""Also how soon a wish of another process is seen."""
Result = TypeVar("Result")


class Journal:
    """The store, in a thread of its own, with what could not be written yet."""

    def __init__(
        self,
        open_store: Callable[[], JournalStore],
        warn: Callable[[str], None],
        *,
        lease_s: float = LEASE_S,
    ) -> None:
        """Nothing is opened before the first use.

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
        self._has_warned = False

    async def ask(self, question: Callable[[JournalStore], Result]) -> Result:
        """Call the store in its thread. Raises `JournalError`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: question(self._opened()))

    async def claim(self, step: StepRecord, caps: Caps) -> Claim:
        """Take a step. Where the store fails, it is the caller's, unless its result is known."""
        kept = self._unwritten.get((step.run, step.key, step.occurrence))
        if kept is not None and kept.state is StepState.DONE:
            return Reused(kept.result, kept.ended_at or 0.0)
        try:
            return await self.ask(lambda store: store.steps.claim(step, self._lease_s, caps))
        except JournalError as error:
            self._report(error)
            return Claimed(1)

    async def finish(self, step: StepRecord) -> None:
        """Record an ended step, now or later."""
        try:
            await self.ask(partial(_finish, step=step))
        except JournalError as error:
            self._unwritten[step.run, step.key, step.occurrence] = step
            self._report(error)

    async def renew(self, run: str, owner: str) -> Wish:
        """Extend the leases of a run and write what is unwritten; return what others want.

        Raises `RunTakenError` where the run has another owner by now.
        """
        try:
            await self._write_again()
            return await self.ask(lambda store: store.runs.renew(run, owner, self._lease_s))
        except RunTakenError:
            raise
        except JournalError as error:
            self._report(error)
            return Wish.NONE

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

        Without effect where the run has another owner by now.
        `releases`: it ended here, and another process may take it from now on.
        """

        def change(store: JournalStore) -> None:
            store.runs.set_state(run, owner, state, reason=reason, result=result, releases=releases)

        try:
            await self._write_again()
            await self.ask(change)
        except JournalError as error:
            self._report(error)

    async def usage(self, *, run: str = "", session: str = "") -> WorkflowUsage:
        """Return what was used; nothing where the store fails."""
        try:
            return await self.ask(lambda store: store.steps.usage(run=run, session=session))
        except JournalError as error:
            self._report(error)
            return WorkflowUsage()

    async def add(self, run: RunRecord) -> None:
        """Record a new run, which this process owns."""

        def begin(store: JournalStore) -> None:
            store.runs.add(run)
            store.runs.take(run.id, run.owner, self._lease_s)

        try:
            await self.ask(begin)
        except JournalError as error:
            self._report(error)

    async def aclose(self) -> None:
        """Write what is unwritten and close the store."""
        try:
            await self._write_again()
        except JournalError as error:
            self._report(error)
        finally:
            if self._store is not None:
                await self.ask(lambda store: store.close())
                self._store = None
            self._thread.shutdown(wait=False)

    async def _write_again(self) -> None:
        for place, step in tuple(self._unwritten.items()):
            await self.ask(partial(_finish, step=step))
            del self._unwritten[place]

    def _opened(self) -> JournalStore:
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


def _finish(store: JournalStore, *, step: StepRecord) -> bool:
    return store.steps.finish(step)
