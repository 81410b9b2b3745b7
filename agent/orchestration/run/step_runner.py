"""Runs the agent calls of one run, using the journal, limits and slots."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortController
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import (
    Busy,
    CapReached,
    Caps,
    Claimed,
    Reused,
    RunRecord,
    StepPlace,
    StepRecord,
    StepState,
)
from agent.orchestration.journal.step_key import step_key
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder, RunAgent
from agent.orchestration.run.run_control import RunControl, RunLeft, RunStopped
from agent.orchestration.run.slots import Slots

POLL_S: Final = 0.1
"""Interval, in seconds, for polling a step that another process runs."""
MAX_ATTEMPTS: Final = 8
"""Attempts of one agent while the endpoint has no capacity."""
MAX_WAIT_S: Final = 300.0
GRACE_S: Final = 5.0
"""Seconds for agents to finish their message after a stop."""


AtLimit: TypeAlias = Callable[["StepRunner", CapReached], Awaitable[bool]]
"""Asks the user about a run at its limit; returns whether the limit was raised."""


class StepView(Struct, frozen=True):
    """A step as shown on the screen."""

    record: StepRecord
    is_reused: bool = False


class StepRunner:
    """The agents of one run in this process."""

    def __init__(
        self,
        run: RunRecord,
        journal: Journal,
        run_agent: RunAgent,
        control: RunControl,
        caps: Caps,
        *,
        on_change: Callable[[], None] = lambda: None,
        at_limit: AtLimit | None = None,
        on_near: Callable[[CapReached], None] = lambda _: None,
    ) -> None:
        """Nothing starts yet; `on_change` is called whenever `views` changes.

        Args:
            at_limit: Asks the user about a limit; None: there is no user, the run is left paused.
            on_near: Called once for each limit, when it is nearly reached.
        """
        self.run = run
        self.caps = caps
        self.views: dict[tuple[str, int], StepView] = {}
        """Views by key and occurrence, in the order of the calls."""
        self._journal = journal
        self._run_agent = run_agent
        self._control = control
        self._at_limit = at_limit
        self._on_near = on_near
        self._reported_limits: set[tuple[str, str, float]] = set()
        self._ask_task: asyncio.Future[None] | None = None
        self._working = 0
        self._idle = asyncio.Event()
        self._slots = Slots(caps.concurrent)
        self._occurrences: Counter[str] = Counter()
        self._on_change = on_change

    async def call(self, order: AgentOrder) -> AgentAnswer:
        """Return the answer of an agent, from the journal if it is recorded there.

        Raises:
            RunStopped: the run ends, and its agents have ended.
        """
        try:
            return await self._call(order)
        except RunStopped:
            await self._until_idle()
            raise

    async def _call(self, order: AgentOrder) -> AgentAnswer:
        key = step_key(order.prompt, order.key_options())
        occurrence = self._occurrences[key]
        self._occurrences[key] += 1
        step = StepRecord(
            run=self.run.id,
            key=key,
            occurrence=occurrence,
            owner=self.run.owner,
            label=order.label,
            phase=order.phase,
            prompt=order.prompt,
        )
        if (
            self.run.kind == "subtasks"
            and (earlier := await self._find_earlier_answer(step)) is not None
        ):
            return earlier
        for attempt in range(MAX_ATTEMPTS):
            await self._control.may_start()
            async with self._slots.place():
                answer = await self._run_once(step, order)
            if answer.retry_after_s is None or attempt + 1 == MAX_ATTEMPTS:
                break
            self._slots.halve()
            await self._wait(min(answer.retry_after_s, MAX_WAIT_S))
        return answer

    async def _run_once(self, step: StepRecord, order: AgentOrder) -> AgentAnswer:
        """Claim a step, waiting if necessary, and run its agent."""
        while True:
            await self._control.may_start()
            match await self._journal.claim(step, self.run, self.caps):
                case Reused(result=result):
                    return self._reuse(step, result)
                case Busy():
                    await self._wait(POLL_S)
                case CapReached() as limit:
                    await self._pause(limit)
                case Claimed(attempt=attempt, near_caps=near_caps):
                    for limit in near_caps:
                        self._report_limit_once(limit)
                    place = StepPlace(step.run, step.key, step.occurrence, step.owner)
                    return await self._run_counted(
                        step, replace(order, attempt=attempt, place=place)
                    )

    async def _pause(self, limit: CapReached) -> None:
        """Pause and ask; without a user, leave the run once running agents have ended."""
        if self._at_limit is None:
            await self._until_idle()
            raise RunLeft(limit.text)
        self._control.pause(limit.text)
        if self._ask_task is None:
            self._ask_task = asyncio.ensure_future(self._ask(limit, self._at_limit))

    async def _until_idle(self) -> None:
        """Wait for running agents, as the end of the run would cancel them."""
        while self._working:
            self._idle.clear()
            await self._idle.wait()

    async def _ask(self, limit: CapReached, at_limit: AtLimit) -> None:
        try:
            is_raised = await at_limit(self, limit)
        finally:
            self._ask_task = None
        if is_raised:
            self._control.resume()

    def _report_limit_once(self, limit: CapReached) -> None:
        key = (limit.of, limit.unit, limit.cap)
        if key not in self._reported_limits:
            self._reported_limits.add(key)
            self._on_near(limit)

    async def _run_counted(self, step: StepRecord, order: AgentOrder) -> AgentAnswer:
        self._working += 1
        try:
            return await self._answer(step, order)
        finally:
            self._working -= 1
            self._idle.set()

    async def _answer(self, step: StepRecord, order: AgentOrder) -> AgentAnswer:
        running = replace(step, attempts=order.attempt)
        self._show(StepView(running))
        abort = AbortController()
        working = asyncio.ensure_future(
            self._run_agent(replace(order, run=self.run.id), abort.signal)
        )
        stopping = asyncio.ensure_future(self._control.stopping())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await asyncio.wait({working}, timeout=GRACE_S)
                abort.abort("the workflow was stopped")
            answer = await working
        except asyncio.CancelledError:
            abort.abort("nothing waits for the answer any more")
            await self._record_abandoned(running, working)
            raise
        finally:
            stopping.cancel()
        ended_record = ended_step(running, answer)
        # Recorded before it is used, so that nothing that was paid for is lost.
        await asyncio.shield(self._journal.finish(ended_record))
        self._show(StepView(ended_record))
        if answer.state is not StepState.DONE:
            self._control.stop_here()
        return answer

    async def _record_abandoned(
        self, step: StepRecord, working: asyncio.Future[AgentAnswer]
    ) -> None:
        """Record the usage of an agent that a script started and did not await."""
        await asyncio.wait({working}, timeout=GRACE_S)
        working.cancel()
        (answer,) = await asyncio.gather(working, return_exceptions=True)
        if isinstance(answer, AgentAnswer):
            ended_record = ended_step(step, answer)
            await asyncio.shield(self._journal.finish(ended_record))
            self._show(StepView(ended_record))

    async def _find_earlier_answer(self, step: StepRecord) -> AgentAnswer | None:
        """Return the answer of the same subtask from an earlier run of this session; else None."""
        session = self.run.session
        if not session:
            return None
        try:
            earlier = await self._journal.ask(
                lambda store: store.steps.find_done(step.key, step.occurrence, session)
            )
        except JournalError:
            return None  # claiming the step reports it
        if earlier is None:
            return None
        copy = replace(
            step, state=StepState.DONE, result=earlier.result, transcript=earlier.transcript
        )
        await self._journal.finish(copy)
        return self._reuse(copy, earlier.result)

    def _reuse(self, step: StepRecord, result: str) -> AgentAnswer:
        reused_step = replace(step, state=StepState.DONE, result=result)
        self._show(StepView(reused_step, is_reused=True))
        return AgentAnswer(state=StepState.DONE, value=json.loads(result))

    async def aclose(self) -> None:
        """Cancel a pending question about a limit."""
        if self._ask_task is not None:
            self._ask_task.cancel()
            await asyncio.gather(self._ask_task, return_exceptions=True)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._control.stopping()
        except TimeoutError:
            return
        raise RunStopped(self._control.reason)

    def _show(self, view: StepView) -> None:
        self.views[view.record.key, view.record.occurrence] = view
        self._on_change()


def ended_step(step: StepRecord, answer: AgentAnswer) -> StepRecord:
    """Return a step with the answer of its agent."""
    return replace(
        step,
        state=answer.state,
        result=_to_json(answer),
        tokens=answer.tokens,
        cost_usd=answer.cost_usd,
        transcript=answer.transcript,
    )


def _to_json(answer: AgentAnswer) -> str:
    if answer.state is StepState.FAILED:
        return json.dumps(answer.reason)
    return json.dumps(answer.value)
