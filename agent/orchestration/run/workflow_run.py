"""One run in this process, from its record to its result; handles requests of other processes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

from msgspec import Struct

from agent.orchestration.journal.journal import RENEW_S, Journal
from agent.orchestration.journal.journal_error import RunTakenError
from agent.orchestration.journal.journal_records import (
    CapReached,
    Caps,
    OwnerRequest,
    RunRecord,
    WorkflowState,
    WorkflowUsage,
)
from agent.orchestration.run.agent_order import RunAgent
from agent.orchestration.run.fan_out import fan_out_options, run_fan_out
from agent.orchestration.run.run_control import RunControl, RunLeft, RunStopped
from agent.orchestration.run.script_calls import RunNested, ScriptCalls
from agent.orchestration.run.step_runner import AtLimit, StepRunner
from agent.orchestration.script.script_engine import (
    Allowed,
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
NESTED_AT_ONCE = 4
"""Nested workflows of one script that run concurrently, each in its own process."""


class RunEnd(Struct, frozen=True):
    """The end of a run."""

    state: WorkflowState
    result: str = ""
    """The text of a fan-out, or JSON of a script's return value."""
    reason: str = ""


class RunParts(Struct, frozen=True):
    """What a run needs from its process."""

    journal: Journal
    run_agent: RunAgent
    confine: Confine
    """Confines the process of a script."""
    find_script: Callable[[str], WorkflowScript]
    """Returns a workflow by name; raises `ScriptError`."""
    caps: Caps = Caps()
    at_limit: AtLimit | None = None
    """Asks the user at a limit; None if there is no user."""
    notify: Callable[[str], None] = lambda _: None
    """Shows a line to the user."""


class WorkflowRun:
    """A run that this process owns."""

    def __init__(
        self,
        record: RunRecord,
        parts: RunParts,
        *,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """The journal already contains `record`."""
        self.record = record
        self.control = RunControl(on_change)
        self.steps = StepRunner(
            record,
            parts.journal,
            parts.run_agent,
            self.control,
            parts.caps,
            on_change=on_change,
            at_limit=parts.at_limit,
            on_near=self._report_near_limit,
        )
        self.started_s = time.monotonic()
        self.log_lines: list[str] = []
        """The latest lines that the script logged."""
        self.on_log: Callable[[str], None] = lambda _: None
        """Called with each line that the script logs."""
        self.phase = ""
        self._parts = parts
        self._on_change = on_change
        self._earlier_usage = WorkflowUsage()
        self._nested_places = asyncio.Semaphore(NESTED_AT_ONCE)

    async def to_the_end(self) -> RunEnd:
        """Run, record how it ended, and return that. Raises only CancelledError."""
        self._earlier_usage = await self._parts.journal.usage(run=self.record.id)
        renewing = asyncio.ensure_future(self._renew())
        try:
            end = await self._run_to_end()
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self.steps.aclose()
        await self._set_state(end.state, end.reason, end.result, releases=True)
        return end

    async def _run_to_end(self) -> RunEnd:
        try:
            return RunEnd(WorkflowState.COMPLETED, await self._compute_result())
        except RunLeft as error:
            return RunEnd(WorkflowState.PAUSED, reason=str(error))
        except RunStopped as error:
            return RunEnd(WorkflowState.STOPPED, reason=str(error))
        except ScriptError as error:
            return RunEnd(WorkflowState.FAILED, reason=str(error))

    async def _compute_result(self) -> str:
        if self.record.kind == "subtasks":
            prompts = json.loads(self.record.script)
            options = fan_out_options(self.record.args)
            subtasks = Subtasks(tuple(prompts), options.dropped)
            return await run_fan_out(self.steps, subtasks, verifies=options.verifies)
        script = read_script(self.record.script)
        value = await self._run_script(script, json.loads(self.record.args), self._run_nested)
        return json.dumps(value)

    async def _run_nested(self, name: str, args: Json) -> Json:
        try:
            async with self._nested_places:
                return await self._run_script(self._parts.find_script(name), args, None)
        except ScriptError as error:
            raise CallRejected(str(error)) from error

    async def _run_script(
        self, script: WorkflowScript, args: Json, run_nested: RunNested | None
    ) -> Json:
        calls = ScriptCalls(self.steps, run_nested)
        ports = ScriptPorts(
            calls.answer,
            self._log,
            self.spent,
            self._parts.confine,
            Allowed(self.record.budget_usd, self.record.max_tokens),
        )
        return await run_script(script, args, ports)

    def _log(self, kind: str, text: str) -> None:
        if kind == "phase":
            self.phase = text
        else:
            self.log_lines[:] = [*self.log_lines, text][-LOG_LINES:]
            self.on_log(text)
        self._on_change()

    def _report_near_limit(self, limit: CapReached) -> None:
        text = f"The workflow {self.record.name}: {limit.text}. At the limit it pauses."
        self._log("log", text)
        self._parts.notify(text)

    def spent(self) -> Spent:
        """Return the usage of earlier processes plus that of this one."""
        records = [view.record for view in self.steps.views.values() if not view.is_reused]
        cost = sum(record.cost_usd or 0.0 for record in records)
        tokens = sum(record.tokens for record in records)
        return Spent(self._earlier_usage.cost_usd + cost, self._earlier_usage.tokens + tokens)

    async def _renew(self) -> None:
        """Renew the lease, and handle requests of other processes."""
        reason = ""
        while True:
            try:
                request = await self._parts.journal.renew(self.record.id, self.record.owner)
            except RunTakenError as error:
                self.control.stop(str(error))
                return
            match request:
                case OwnerRequest.PAUSE:
                    self.control.pause("a user paused it")
                case OwnerRequest.RESUME:
                    self.control.resume()
                case OwnerRequest.STOP:
                    self.control.stop("a user stopped it")
            if self.control.is_paused != bool(reason):
                reason = self.control.reason if self.control.is_paused else ""
                state = WorkflowState.PAUSED if reason else WorkflowState.RUNNING
                await self._set_state(state, reason)
            await asyncio.sleep(RENEW_S)

    async def _set_state(
        self, state: WorkflowState, reason: str, result: str = "", *, releases: bool = False
    ) -> None:
        run, owner = self.record.id, self.record.owner
        await self._parts.journal.set_state(
            run, owner, state, reason=reason, result=result, releases=releases
        )
