"""One run in this process: from its record to its result, obeying what other processes want."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from msgspec import Struct

from agent.orchestration.journal.journal import RENEW_S, Journal
from agent.orchestration.journal.journal_records import Caps, RunRecord, Wish, WorkflowState
from agent.orchestration.run.agent_order import RunAgent
from agent.orchestration.run.fan_out import run_fan_out
from agent.orchestration.run.run_control import RunControl, RunStopped
from agent.orchestration.run.script_calls import RunNested, ScriptCalls
from agent.orchestration.run.step_runner import StepRunner
from agent.orchestration.script.script_engine import (
    CallRejected,
    Json,
    ScriptPorts,
    Spent,
    run_script,
)
from agent.orchestration.script.script_meta import ScriptError, WorkflowScript, read_script
from agent.orchestration.subtasks import Subtasks
from permissions.base.process.spawn import Confine

LOG_LINES = 200


class RunEnd(Struct, frozen=True):
    """How a run ended."""

    state: WorkflowState
    result: str = ""
    """The text of a fan-out, or JSON of what a script returned."""
    reason: str = ""


class RunParts(Struct, frozen=True):
    """What a run needs of its process."""

    journal: Journal
    run_agent: RunAgent
    confine: Confine
    """Confines the process of a script."""
    find_script: Callable[[str], WorkflowScript]
    """Returns the workflow of a name; raises `ScriptError`."""
    caps: Caps = Caps()


class WorkflowRun:
    """A run that this process owns."""

    def __init__(
        self,
        record: RunRecord,
        parts: RunParts,
        *,
        dropped: int = 0,
        verifies: bool = True,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """The journal has the record already.

        Args:
            dropped: Subtasks beyond the limit.
            verifies: Whether a fan-out has its second wave.
        """
        self.record = record
        self.control = RunControl(on_change)
        self.steps = StepRunner(
            record, parts.journal, parts.run_agent, self.control, parts.caps, on_change=on_change
        )
        self.started_s = time.monotonic()
        self.logged: list[str] = []
        """The latest lines that the script logged."""
        self.phase = ""
        self._parts = parts
        self._dropped = dropped
        self._verifies = verifies
        self._on_change = on_change

    async def to_the_end(self) -> RunEnd:
        """Run, record how it ended, and return that. Raises nothing but cancellation."""
        renewing = asyncio.ensure_future(self._renew())
        try:
            end = await self._ended()
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        await self._parts.journal.set_state(
            self.record.id, end.state, reason=end.reason, result=end.result
        )
        return end

    async def _ended(self) -> RunEnd:
        try:
            return RunEnd(WorkflowState.COMPLETED, await self._work())
        except RunStopped as stopped:
            return RunEnd(WorkflowState.STOPPED, reason=str(stopped))
        except ScriptError as error:
            return RunEnd(WorkflowState.FAILED, reason=str(error))

    async def _work(self) -> str:
        if self.record.kind == "subtasks":
            prompts = json.loads(self.record.script)
            subtasks = Subtasks(tuple(prompts), self._dropped)
            return await run_fan_out(self.steps, subtasks, verifies=self._verifies)
        script = read_script(self.record.script)
        value = await self._run_script(script, json.loads(self.record.args), self._nested)
        return json.dumps(value)

    async def _nested(self, name: str, args: Json) -> Json:
        try:
            return await self._run_script(self._parts.find_script(name), args, None)
        except ScriptError as error:
            raise CallRejected(str(error)) from error

    async def _run_script(
        self, script: WorkflowScript, args: Json, nested: RunNested | None
    ) -> Json:
        calls = ScriptCalls(self.steps, nested)
        ports = ScriptPorts(
            calls.answer, self._log, self._spent, self._parts.confine, self.record.budget_usd
        )
        return await run_script(script, args, ports)

    def _log(self, kind: str, text: str) -> None:
        if kind == "phase":
            self.phase = text
        else:
            self.logged[:] = [*self.logged, text][-LOG_LINES:]
        self._on_change()

    def _spent(self) -> Spent:
        records = [view.record for view in self.steps.views.values() if not view.is_reused]
        cost = sum(record.cost_usd or 0.0 for record in records)
        return Spent(cost, sum(record.tokens for record in records))

    async def _renew(self) -> None:
        """Hold the lease, and obey wishes of other processes."""
        shown = ""
        while True:
            match await self._parts.journal.renew(self.record.id, self.record.owner):
                case Wish.PAUSE:
                    self.control.pause("a user paused it")
                case Wish.RESUME:
                    self.control.resume()
                case Wish.STOP:
                    self.control.stop("a user stopped it")
            if self.control.is_paused != bool(shown):
                shown = self.control.reason if self.control.is_paused else ""
                state = WorkflowState.PAUSED if shown else WorkflowState.RUNNING
                await self._parts.journal.set_state(self.record.id, state, reason=shown)
            await asyncio.sleep(RENEW_S)
