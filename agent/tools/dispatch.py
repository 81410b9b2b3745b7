"""Run the calls of one assistant turn: partition, then gather (pattern "Partition-Then-Gather").

Adjacent calls that only read run together, at most `max_concurrent`, and so do calls that start
agents; every other call runs alone. Results have the order of the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext

from msgspec import Struct

from agent.abort import AbortController
from agent.messages import ToolUse
from agent.stream import TurnEvents
from agent.tools.base import Concurrency
from agent.tools.call import CallOutcome, CallPorts
from agent.tools.interruption import sibling_failed
from agent.tools.lifecycle import run_call
from agent.tools.registry import ToolRegistry


class Batch(Struct, frozen=True):
    """Consecutive calls that run together when `is_concurrent`, else exactly one call."""

    calls: tuple[ToolUse, ...]
    is_concurrent: bool
    unlimited_ids: frozenset[str] = frozenset()
    """Calls that `max_concurrent` does not apply to, because they limit themselves."""


def partition(calls: Sequence[ToolUse], registry: ToolRegistry) -> tuple[Batch, ...]:
    """Split calls into batches in their order; a call whose concurrency is unknown runs alone."""
    batches: list[Batch] = []
    for call in calls:
        kind = _concurrency_of(call, registry)
        batch = Batch((), False)
        if kind is not None and batches and batches[-1].is_concurrent:
            batch = batches.pop()
        ids = {call.id} if kind is Concurrency.INDEPENDENT else ()
        unlimited_ids = batch.unlimited_ids.union(ids)
        batches.append(Batch((*batch.calls, call), kind is not None, unlimited_ids))
    return tuple(batches)


def _concurrency_of(call: ToolUse, registry: ToolRegistry) -> Concurrency | None:
    """Return how a call may run beside others; None if it must run alone."""
    tool = registry.get(call.name)
    if tool is None or call.invalid_json is not None:
        return None
    try:
        kind = tool.concurrency(tool.parse(call.input))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return kind if kind in {Concurrency.READ_ONLY, Concurrency.INDEPENDENT} else None


class Dispatcher:
    """Runs the calls of one turn; afterwards `outcomes` has one entry per call that was started."""

    def __init__(self, ports: CallPorts, events: TurnEvents) -> None:
        """One dispatcher serves one assistant turn."""
        self._ports = ports
        self._events = events
        self.outcomes: dict[str, CallOutcome] = {}

    async def run(self, calls: Sequence[ToolUse], controller: AbortController) -> None:
        """Run the calls; stop after an abort or a call that ends the turn."""
        for batch in partition(calls, self._ports.registry):
            if controller.signal.aborted or any(o.ends_turn for o in self.outcomes.values()):
                return
            await self._run_batch(batch, controller)

    async def _run_batch(self, batch: Batch, controller: AbortController) -> None:
        siblings = controller.child()
        gather = asyncio.ensure_future(self._gather(batch, siblings))
        try:
            await asyncio.wait({gather})
            gather.result()
        finally:
            controller.release(siblings)
            if not gather.done():
                siblings.abort()
                gather.cancel()
                await asyncio.wait({gather})

    async def _gather(self, batch: Batch, siblings: AbortController) -> None:
        if len(batch.calls) == 1:
            await self._run_one(batch.calls[0], siblings)
            return
        room = asyncio.Semaphore(self._ports.max_concurrent)
        async with asyncio.TaskGroup() as group:
            for call in batch.calls:
                is_unlimited = call.id in batch.unlimited_ids
                group.create_task(self._run_one(call, siblings, None if is_unlimited else room))

    async def _run_one(
        self, call: ToolUse, siblings: AbortController, room: asyncio.Semaphore | None = None
    ) -> None:
        """Run a call; one that runs under the limit may stop its siblings when it fails."""
        async with room or nullcontext():
            outcome = await run_call(call, self._ports, self._events, siblings.signal)
            self.outcomes[call.id] = outcome
            if room is not None and outcome.aborts_siblings:
                siblings.abort(sibling_failed(outcome.identifier))
