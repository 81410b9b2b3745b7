"""The owner's part of a run on several machines: queues agents, waits for results."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from agent.abort import AbortSignal
from agent.orchestration.cluster.agent_queue import AgentQueue, QueuedAgent, QueueError
from agent.orchestration.journal.journal import LEASE_S, Journal
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import StepPlace, StepRecord, StepState
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder

POLL_S: Final = 0.5
POLLS_BEFORE_WARNING: Final = 20
"""Number of polls after which the user is notified that no worker takes an agent."""
MAX_UNHELD_POLLS: Final = 4
"""Number of polls after which a worker that took an agent but holds no step counts as dead."""
RETRY_S: Final = 5.0


class RemoteAgents:
    """Lets workers run agents; `run` is a `RunAgent`."""

    def __init__(self, queue: AgentQueue, journal: Journal, notify: Callable[[str], None]) -> None:
        """`notify` shows a line to the user."""
        self._queue = queue
        self._journal = journal
        self._notify = notify
        self._has_warned = False

    async def run(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        """Have a worker run an agent to its end; if the worker dies, another one does."""
        try:
            return await self._run(order, abort)
        except QueueError as error:
            reason = f"QueueError: {error}"
            return AgentAnswer(state=StepState.FAILED, reason=reason, retry_after_s=RETRY_S)

    async def _run(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        place = order.place
        assert place is not None, "the step was claimed"
        job = await self._queue.put(QueuedAgent(order))
        polls = unheld_polls = 0
        while not abort.aborted:
            step = await self._read_step(place)
            if step is not None and step.state is not StepState.RUNNING:
                return _answer(step)
            polls += 1
            if step is None or step.owner != place.owner:
                unheld_polls = 0
            elif await self._queue.is_waiting(job):
                unheld_polls = 0
                self._warn_without_workers(polls)
            else:
                unheld_polls += 1
            is_lost = unheld_polls >= MAX_UNHELD_POLLS
            if is_lost or (step is not None and await self._take_back(step, place)):
                # The journal gives the step to one worker only, so a surplus job does no harm.
                job = await self._queue.put(QueuedAgent(order))
                unheld_polls = 0
            await abort.sleep(POLL_S)
        await self._queue.withdraw(job)
        return AgentAnswer(state=StepState.PARTIAL, reason="the run was stopped")

    async def _read_step(self, place: StepPlace) -> StepRecord | None:
        try:
            return await self._journal.ask(
                lambda store: store.steps.get(place.run, place.key, place.occurrence)
            )
        except JournalError:
            return None  # the next poll may succeed

    async def _take_back(self, step: StepRecord, place: StepPlace) -> bool:
        """Take a step back from a worker that has died; return whether that succeeded."""
        if step.owner == place.owner:
            return False
        current_place = StepPlace(step.run, step.key, step.occurrence, step.owner)
        try:
            return await self._journal.ask(
                lambda store: store.steps.hold(current_place, place.owner, LEASE_S, if_dead=True)
            )
        except JournalError:
            return False

    def _warn_without_workers(self, polls: int) -> None:
        if self._has_warned or polls < POLLS_BEFORE_WARNING:
            return
        self._has_warned = True
        self._notify(
            "No worker has taken an agent yet. Start one where the repository is at the same "
            "commit: agent-tui workflow worker --queue URL"
        )


def _answer(step: StepRecord) -> AgentAnswer:
    value: object = json.loads(step.result) if step.result else None
    is_failed = step.state is StepState.FAILED
    return AgentAnswer(
        state=step.state,
        value=None if is_failed else value,
        reason=str(value) if is_failed else "",
        transcript=step.transcript,
        tokens=step.tokens,
        cost_usd=step.cost_usd,
    )
