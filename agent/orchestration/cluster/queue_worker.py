"""The worker's part of a run on several machines: runs agents, records their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from agent.abort import AbortController, AbortSignal
from agent.orchestration.cluster.agent_queue import QueuedAgent
from agent.orchestration.journal.journal import LEASE_S, Journal
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import StepPlace, StepRecord
from agent.orchestration.journal.run_owner import new_owner
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder, RunAgent
from agent.orchestration.run.step_runner import MAX_ATTEMPTS, MAX_WAIT_S, ended_step

RENEW_S: Final = 5.0


class QueueWorker:
    """Runs agents of the queue, each for the run that queued it."""

    def __init__(self, journal: Journal, run_agent: RunAgent, show: Callable[[str], None]) -> None:
        """`show` is called with a line about each agent."""
        self._journal = journal
        self._run_agent = run_agent
        self._show = show

    async def work(self, agent: QueuedAgent) -> None:
        """Run an agent that its run still waits for; record its end, even if it is cancelled.

        Raises:
            JournalError: the step could not be acquired.
        """
        order = agent.order
        place = order.place
        assert place is not None, "it was queued"
        step = StepRecord(
            run=place.run,
            key=place.key,
            occurrence=place.occurrence,
            owner=new_owner(),
            label=order.label,
            phase=order.phase,
            prompt=order.prompt,
        )
        name = order.label or order.prompt.partition("\n")[0][:60]
        if not await self._hold(place, step.owner):
            self._show(f"no longer needed: {name}")
            return
        self._show(f"works   {name}")
        abort = AbortController()
        renewing = asyncio.ensure_future(self._renew(replace(place, owner=step.owner)))
        working = asyncio.ensure_future(self._answer(order, abort.signal))
        try:
            answer = await asyncio.shield(working)
        except asyncio.CancelledError:
            abort.abort("the agent was withdrawn")
            answer = await working
        finally:
            renewing.cancel()
        await self._journal.finish(ended_step(step, answer))
        self._show(f"{answer.state:8}{name}")

    async def _answer(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        """Run the agent; retry while the endpoint has no capacity."""
        for _ in range(MAX_ATTEMPTS - 1):
            answer = await self._run_agent(order, abort)
            if answer.retry_after_s is None or abort.aborted:
                return answer
            await abort.sleep(min(answer.retry_after_s, MAX_WAIT_S))
        return await self._run_agent(order, abort)

    async def _hold(self, place: StepPlace, owner: str) -> bool:
        return await self._journal.ask(lambda store: store.steps.hold(place, owner, LEASE_S))

    async def _renew(self, place: StepPlace) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            try:
                await self._hold(place, place.owner)
            except JournalError:
                continue  # the lease may last until the next renewal
