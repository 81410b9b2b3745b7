"""The workflows of one session: starts runs, resumes them, delivers their results.

Next: `agent.orchestration.run.workflow_run` (one run).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.display import WorkflowDisplay
from agent.loop.loop_ports import BackgroundReport
from agent.orchestration.journal.journal import LEASE_S, Journal
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import (
    UNCHANGED,
    CapReached,
    Caps,
    RunChange,
    RunRecord,
    WorkflowState,
)
from agent.orchestration.journal.run_owner import new_owner
from agent.orchestration.journal.step_key import script_hash
from agent.orchestration.launch_plan import launch_plan
from agent.orchestration.run.agent_order import RunAgent
from agent.orchestration.subtasks import NOTHING_USABLE, SUBTASKS, read_subtasks
from agent.tools.base import ToolError
from agent.tools.workflow_port import WorkflowCall, WorkflowStart
from permissions.base.process.spawn import Confine

if TYPE_CHECKING:
    # Imported at run time with the first workflow.
    from agent.orchestration.run.step_runner import StepRunner
    from agent.orchestration.run.workflow_run import RunEnd, WorkflowRun
    from agent.orchestration.run_report import RunSummary
    from agent.orchestration.script.script_meta import WorkflowScript
    from agent.orchestration.workflow_files import WorkflowPlaces

CLOSE_S: Final = 6.0
HASH_DIGITS: Final = 20
"""Digits of a script's hash in a rule, enough to rule out collisions."""
WAIT_S: Final = 600.0


class WorkflowSurround(Struct, frozen=True):
    """What runs need from the session."""

    session: str
    places: Callable[[], WorkflowPlaces]
    mode: Callable[[], str]
    run_agent: RunAgent
    confine: Confine
    caps: Caps = Caps()
    orchestrates: Callable[[], bool] = lambda: False
    """Whether orchestration mode is on."""
    ask: Callable[[str], Awaitable[bool]] | None = None
    """Asks the user at a limit; None if there is no user."""
    notify: Callable[[str], None] = lambda _: None
    """Shows a line to the user."""
    wait_s: float = WAIT_S
    """How long, in seconds, a program without a screen waits for a workflow after its last turn."""


class Workflows:
    """Runs of this process; implements the port of the Workflow tool."""

    def __init__(self, surround: WorkflowSurround, journal: Journal) -> None:
        """Nothing is opened or started yet."""
        self.journal = journal
        self.run_agent = surround.run_agent
        """Runs an agent; if there is a queue, its workers do."""
        self.on_report: Callable[[], None] = lambda: None
        """Called when a background run has ended."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when the display of the runs needs an update."""
        self._surround = surround
        self._runs: dict[str, WorkflowRun] = {}
        self._tasks: dict[str, asyncio.Task[RunEnd]] = {}
        self._reports: list[BackgroundReport] = []
        self._decided_calls: dict[str, tuple[WorkflowCall, WorkflowCall]] = {}
        """By tool call id: the original call, and the call with the script's text."""
        self._caps = surround.caps
        self._is_awaited = False
        self._end_event = asyncio.Event()
        self._ended_runs: list[tuple[WorkflowRun, RunEnd]] = []

    @property
    def running(self) -> tuple[WorkflowRun, ...]:
        """The runs that have not ended."""
        return tuple(self._runs.values())

    @property
    def has_reports(self) -> bool:
        """Whether results wait for the main conversation."""
        return bool(self._reports)

    def take_reports(self) -> list[BackgroundReport]:
        """Return the results of background runs since the last call."""
        reports, self._reports = self._reports, []
        return reports

    def identity(self, call: WorkflowCall, tool_use_id: str) -> str:
        """Return `name@hash`. Raises ToolError."""
        if call.subtasks is not None:
            if not read_subtasks(call.subtasks).prompts:
                raise ToolError(NOTHING_USABLE)
            return SUBTASKS
        from agent.orchestration.new_run import script_of  # see above

        script = script_of(self._with_script(call, tool_use_id), self._surround.places())
        self._decided_calls[tool_use_id] = call, replace(call, script=script.text)
        return f"{script.meta.name}@{script_hash(script.text)[:HASH_DIGITS]}"

    @property
    def orchestrates(self) -> bool:
        """Whether orchestration mode is on."""
        return self._surround.orchestrates()

    async def plan(self, call: WorkflowCall, tool_use_id: str) -> WorkflowDisplay:
        """Return the plan of a call, to be shown to the user. Raises ToolError."""
        from agent.orchestration.new_run import new_record  # see above

        call = self._with_script(call, tool_use_id)
        surround = self._surround
        run = new_record(call, surround.places(), session=surround.session, mode=surround.mode())
        return await launch_plan(
            run,
            self.journal,
            self._caps,
            verifies=call.verifies,
            resumes=call.resumes or "",
        )

    async def start(
        self, call: WorkflowCall, tool_use_id: str, abort: AbortSignal
    ) -> WorkflowStart:
        """Start a run; wait for it unless it runs in the background. Raises ToolError."""
        from agent.orchestration.new_run import new_record  # see above

        call = self._with_script(call, tool_use_id)
        self._decided_calls.pop(tool_use_id, None)
        if call.resumes is not None:
            record = await self._resume(call)
        else:
            surround = self._surround
            record = new_record(
                call, surround.places(), session=surround.session, mode=surround.mode()
            )
            if not record.script:
                return WorkflowStart("", SUBTASKS, NOTHING_USABLE, is_error=True)
            await self.journal.add(record)
        run = self._run(record)
        in_background = call.in_background
        if in_background is None:
            in_background = record.kind != SUBTASKS
        task = self._start_task(run, reports=in_background)
        if in_background:
            return WorkflowStart(
                record.id,
                record.name,
                f"The workflow {record.name} runs in the background as {record.id}. Its result "
                "comes by itself; do not wait for it and do not guess it.",
                is_running=True,
            )
        return await self._wait(run, task, abort)

    async def begin(self, record: RunRecord) -> WorkflowRun:
        """Start a new run in the background."""
        await self.journal.add(record)
        run = self._run(record)
        _ = self._start_task(run, reports=True)
        return run

    async def resume(self, run_id: str, limits: RunChange = UNCHANGED) -> WorkflowRun:
        """Continue a run of the project in the background; finished steps are not repeated.

        Raises:
            JournalError: there is no such run, or another process owns it.
        """
        run = self._run(await self._apply_limits(await self._take_ownership(run_id), limits))
        _ = self._start_task(run, reports=True)
        return run

    async def to_the_end(self, run_id: str) -> RunEnd | None:
        """Wait for the end of a run of this process; None if there is no such run."""
        task = self._tasks.get(run_id)
        return await asyncio.shield(task) if task is not None else None

    def summaries(self) -> list[RunSummary]:
        """Return the runs of this process, ended ones first."""
        from agent.orchestration.run_report import summary_of  # see above

        return [
            *(summary_of(run, end) for run, end in self._ended_runs),
            *(summary_of(run, None) for run in self.running),
        ]

    async def next_report(self) -> bool:
        """Wait for the result of a background run; return False if none arrives in time."""
        self._is_awaited = True
        try:
            async with asyncio.timeout(self._surround.wait_s):
                while not self._reports and self._is_awaited and self._tasks:
                    self._end_event.clear()
                    await self._end_event.wait()
        except TimeoutError:
            return False
        finally:
            was_awaited, self._is_awaited = self._is_awaited, False
        return was_awaited and bool(self._reports)

    def give_up(self) -> bool:
        """End a wait for a result; return whether there was one."""
        was_awaited, self._is_awaited = self._is_awaited, False
        self._end_event.set()
        return was_awaited

    async def aclose(self) -> None:
        """Stop every run; results so far are recorded, and each run can be resumed."""
        for run in self.running:
            run.control.stop("the program was closed")
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=CLOSE_S)
            for task in tuple(self._tasks.values()):
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self.journal.aclose()

    # -- pieces -----------------------------------------------------------------------------

    def _with_script(self, call: WorkflowCall, tool_use_id: str) -> WorkflowCall:
        """Return a call with the text of its script, if it was read before."""
        original, judged_call = self._decided_calls.get(tool_use_id, (call, call))
        return judged_call if original == call else call

    async def _resume(self, call: WorkflowCall) -> RunRecord:
        from agent.orchestration.new_run import limits_of, new_record, script_of  # see above

        assert call.resumes is not None
        try:
            record = await self._take_ownership(call.resumes)
        except JournalError as error:
            raise ToolError(f"The run cannot be resumed: {error}.") from error
        if (call.subtasks is None) != (record.kind != SUBTASKS):
            raise ToolError(
                f"The run cannot be resumed: {record.id} runs another kind of workflow.",
                "Give subtasks for a run of subtasks, and a script for a run of a script.",
            )
        # An edited script, or edited subtasks, reuse the results of all unchanged calls.
        surround, old_script = self._surround, record.script
        if call.subtasks is None:
            script = script_of(call, surround.places())
            record = replace(record, name=script.meta.name, script=script.text)
            if call.args is not None:
                record = replace(record, args=json.dumps(call.args))
        else:
            new = new_record(
                call, surround.places(), session=surround.session, mode=surround.mode()
            )
            record = replace(record, script=new.script, args=new.args)
        change = limits_of(call)
        if record.script != old_script:
            change = replace(change, script=record.script)
        return await self._apply_limits(record, change)

    async def _take_ownership(self, run_id: str) -> RunRecord:
        owner = new_owner()
        record = await self.journal.ask(lambda store: store.runs.take(run_id, owner, LEASE_S))
        return replace(record, owner=owner)

    async def _apply_limits(self, record: RunRecord, limits: RunChange) -> RunRecord:
        if limits.is_empty:
            return record
        await self.journal.ask(lambda store: store.runs.change(record.id, limits))
        return replace(
            record,
            max_agents=limits.agents or record.max_agents,
            max_tokens=limits.tokens or record.max_tokens,
            budget_usd=limits.usd or record.budget_usd,
        )

    async def _at_limit(self, steps: StepRunner, limit: CapReached) -> bool:
        """Ask whether to raise the limit by the same amount again; return whether it was raised."""
        assert self._surround.ask is not None
        name = steps.run.name
        if not await self._surround.ask(
            f"The workflow {name} is paused: {limit.text}. Allow as much again?"
        ):
            return False
        much = {limit.unit: limit.cap + max(limit.cap, limit.used_amount)}
        agents, tokens = int(much.get("agents", 0)) or None, int(much.get("tokens", 0)) or None
        if limit.of == "run":
            limits = RunChange(agents, tokens, much.get("dollars"))
            await self.journal.ask(lambda store: store.runs.change(steps.run.id, limits))
            return True
        caps = self._caps
        self._caps = replace(
            caps,
            session_agents=agents or caps.session_agents,
            session_tokens=tokens or caps.session_tokens,
            session_usd=much.get("dollars", caps.session_usd),
        )
        for run in self.running:
            run.steps.caps = self._caps
            run.control.resume()
        return True

    def _run(self, record: RunRecord) -> WorkflowRun:
        from agent.orchestration.run.workflow_run import RunParts, WorkflowRun  # see above

        surround = self._surround
        parts = RunParts(
            self.journal,
            self.run_agent,
            surround.confine,
            self._find,
            self._caps,
            at_limit=self._at_limit if surround.ask is not None else None,
            notify=surround.notify,
        )
        return WorkflowRun(record, parts, on_change=lambda: self.on_change())

    def _find(self, name: str) -> WorkflowScript:
        from agent.orchestration.workflow_files import find_workflow, workflow_file  # see above

        return workflow_file(find_workflow(name, self._surround.places()))

    def _start_task(self, run: WorkflowRun, *, reports: bool) -> asyncio.Task[RunEnd]:
        self._runs[run.record.id] = run
        task = asyncio.ensure_future(self._run_and_report(run, reports=reports))
        self._tasks[run.record.id] = task
        self.on_change()
        return task

    async def _run_and_report(self, run: WorkflowRun, *, reports: bool) -> RunEnd:
        try:
            end = await run.to_the_end()
        finally:
            self._runs.pop(run.record.id, None)
            self._tasks.pop(run.record.id, None)
            self._end_event.set()
            self.on_change()
        self._ended_runs.append((run, end))
        if reports:
            from agent.orchestration.run_report import ended_run_note  # see above

            line = f"The workflow {run.record.name} is {end.state}"
            if end.reason:
                line += f": {end.reason}"
            self._reports.append(BackgroundReport(line, ended_run_note(run, end)))
            self.on_report()
        return end

    async def _wait(
        self, run: WorkflowRun, task: asyncio.Task[RunEnd], abort: AbortSignal
    ) -> WorkflowStart:
        interrupt = asyncio.ensure_future(abort.wait())
        try:
            await asyncio.wait({task, interrupt}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                run.control.stop(abort.reason or "it was interrupted")
            end = await task
        finally:
            interrupt.cancel()
        from agent.orchestration.run_report import ended_run_text  # see above

        text = ended_run_text(run, end)
        is_error = end.state is not WorkflowState.COMPLETED
        return WorkflowStart(run.record.id, run.record.name, text, is_error=is_error)
