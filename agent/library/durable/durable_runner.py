"""Durable runs: recorded step by step, so that another process can continue them after a crash.

    async with DurableRunner([agent], "runs.db") as runner:
        run = await runner.start(agent, "Delete the old branches", run_id="cleanup-7")
        for call in await run.interruptions():
            await run.approve(call)
        print((await run.result()).final_output)

A finished model call or tool call is never repeated; an unfinished one is. Results are recorded as
JSON. Instructions, filters, guardrails and hooks run again when a run is resumed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.library.agents.agent_definition import Agent
from agent.library.agents.run_hooks import RunHooks
from agent.library.base import run_exceptions
from agent.library.base.raw_items import InputItem, RawItem, as_json
from agent.library.base.run_exceptions import AgentsException, UserError
from agent.library.context.run_context import RunContextWrapper
from agent.library.context.run_steps import use_steps
from agent.library.durable.owners import OwnerLocks
from agent.library.durable.sqlite_clock import connect_options
from agent.library.items.run_items import ToolApprovalItem
from agent.library.running.runner import AgentRunner
from agent.library.state.run_config import DEFAULT_MAX_TURNS, RunConfig
from agent.library.state.run_result import RunResult
from agent.library.state.run_state import RunState
from agent.library.state.state_json import agents_by_name
from agent.library.state.state_results import result_of

if TYPE_CHECKING:
    from dbos import DBOS, StepReservation

VERSION: Final = "agent-durable-3"
"""Runs started by another version are not resumed; it changes with the order of steps."""
WORKFLOW: Final = "agent-tui.run"
WAITING: Final = "waiting"
ANSWER: Final = "answer"
POLL_S: Final = 0.5
"""Polling interval, in seconds, for whether a run has ended or waits for approval."""
A_YEAR_S: Final = 366 * 24 * 3600.0


class _DurableStep:
    """One recorded side effect."""

    def __init__(self, reservation: StepReservation, name: str) -> None:
        self._reservation = reservation
        self._name = name

    async def run(self, work: Callable[[], Awaitable[RawItem]]) -> RawItem:
        async def run_as_json() -> RawItem:
            return as_json(await work())

        return await self._reservation.run_async({"name": self._name}, run_as_json)


class _DurableSteps:
    """Reserves steps of the current workflow."""

    is_recorded = True

    def __init__(self, dbos: type[DBOS]) -> None:
        self._dbos = dbos

    def reserve(self, name: str) -> _DurableStep:
        return _DurableStep(self._dbos.reserve_step(), name)


class DurableRun:
    """A run that was started by this or another process."""

    def __init__(self, runner: DurableRunner, run_id: str) -> None:
        """`run_id` identifies the run in every process."""
        self._runner = runner
        self.run_id = run_id

    async def interruptions(self) -> list[ToolApprovalItem]:
        """Wait for calls that need approval and return them; empty when the run has ended."""
        while True:
            state = await self._runner.waiting_state(self.run_id)
            if state is not None:
                return state.get_interruptions()
            if await self._runner.outcome(self.run_id) is not None:
                return []
            await self._runner.look_again()

    async def approve(self, call: ToolApprovalItem, always_approve: bool = False) -> None:
        """Allow a call to run."""
        await self._answer(call, {"approved": True, "always": always_approve})

    async def reject(
        self,
        call: ToolApprovalItem,
        always_reject: bool = False,
        rejection_message: str | None = None,
    ) -> None:
        """Reject a call."""
        answer = {"approved": False, "always": always_reject, "message": rejection_message}
        await self._answer(call, answer)

    async def result(self) -> RunResult:
        """Wait for the end of the run and return its result.

        Raises:
            AgentsException: the run failed; restored from the recorded class name and text.
        """
        while (outcome := await self._runner.outcome(self.run_id)) is None:
            await self._runner.look_again()
        return await self._runner.read_outcome(outcome)

    async def _answer(self, call: ToolApprovalItem, answer: dict[str, RawItem]) -> None:
        await self._runner.send(self.run_id, {"call_id": call.call_id, **answer})


class DurableRunner:
    """Runs agents durably. Use it with `async with`; one at a time in a process.

    Needs the extra `agent-tui[durable]`.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        database: str | Path = "agent-runs.db",
        *,
        run_config: RunConfig | None = None,
        hooks: RunHooks | None = None,
        context: RawItem = None,
        executor_id: str | None = None,
    ) -> None:
        """Create a runner; `agents` are those that runs start with, found by name on resumption.

        Args:
            database: A file for SQLite, or a URL `postgresql://…` for several machines.
            context: The context object for tools and hooks; it is not recorded.
            executor_id: For Postgres: unique among running processes, and the same for the process
                that takes over this one's runs. With SQLite, lock files serve this purpose.

        Raises:
            UserError: DBOS is not installed, or Postgres is used without an executor id.
        """
        self._agents = {agent.name: agent for agent in agents}
        self._url, self._file = _address(database)
        if self._file is None and executor_id is None:
            raise UserError("Give DurableRunner an executor_id: Postgres has no locks of files.")
        self._executor_id = executor_id
        self._config = run_config
        self._hooks = hooks
        self._context = context
        self._locks: OwnerLocks | None = None
        self._dbos = _load()
        self._workflow: Callable[[str], Coroutine[RawItem, RawItem, str]] | None = None

    async def __aenter__(self) -> DurableRunner:
        """Open the database and resume runs whose process has ended."""
        await asyncio.to_thread(self._launch)
        await self._take_over()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the database; other processes can resume unfinished runs."""
        # DBOS set its own thread pool as the loop's default, and closes it in `destroy`.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        await asyncio.to_thread(self._dbos.destroy)
        if self._locks is not None:
            self._locks.release()

    async def start(
        self,
        agent: Agent,
        input: str | list[InputItem],
        *,
        run_id: str,
        max_turns: int | None = DEFAULT_MAX_TURNS,
    ) -> DurableRun:
        """Start a run; if one with this id exists, return it unchanged.

        Raises:
            UserError: the agent is not among those passed to the runner.
        """
        if self._agents.get(agent.name) is not agent:
            raise UserError(f"DurableRunner was not given the agent {agent.name!r}.")
        from dbos import SetWorkflowID

        assert self._workflow is not None, "use DurableRunner with `async with`"
        options = {"agent": agent.name, "input": as_json(input), "max_turns": max_turns}
        if await self._dbos.get_workflow_status_async(run_id) is None:
            with SetWorkflowID(run_id):
                await self._dbos.start_workflow_async(self._workflow, json.dumps(options))
        return DurableRun(self, run_id)

    def get(self, run_id: str) -> DurableRun:
        """Return a run that was started earlier."""
        return DurableRun(self, run_id)

    # -- for runs ---------------------------------------------------------------------------

    async def outcome(self, run_id: str) -> Mapping[str, RawItem] | None:
        """Return the recorded outcome of a run; None while it is running.

        Raises:
            UserError: there is no such run, or it ended without an outcome.
        """
        status = await self._dbos.get_workflow_status_async(run_id)
        if status is None:
            raise UserError(f"There is no run {run_id!r}.")
        if status.status == "SUCCESS":
            outcome: Mapping[str, RawItem] = json.loads(status.output or "{}")
            return outcome
        if status.status in ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"):
            raise UserError(f"The run {run_id!r} ended as {status.status}: {status.error}")
        return None

    async def waiting_state(self, run_id: str) -> RunState | None:
        """Return the state of a run that waits for approvals; None if it does not."""
        text = await self._dbos.get_event_async(run_id, WAITING, timeout_seconds=0)
        return await self._state(json.loads(text)) if text else None

    async def read_outcome(self, outcome: Mapping[str, RawItem]) -> RunResult:
        """Return the result of a run that has ended. Raises the run's exception if it failed."""
        if "error" in outcome:
            kind: RawItem = getattr(run_exceptions, outcome["error"], AgentsException)
            error = kind.__new__(kind)
            Exception.__init__(error, outcome["message"])
            raise error
        state = await self._state(outcome)
        return result_of(state)

    async def send(self, run_id: str, answer: Mapping[str, RawItem]) -> None:
        """Send a decision about a call to a run."""
        await self._dbos.send_async(run_id, json.dumps(answer), topic=ANSWER)

    async def look_again(self) -> None:
        """Wait for `POLL_S`, then resume runs of processes that ended in the meantime."""
        await asyncio.sleep(POLL_S)
        await self._take_over()

    # -- pieces -----------------------------------------------------------------------------

    def _launch(self) -> None:
        from dbos import DBOSPortableJSONSerializer

        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._file)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
            self._locks = OwnerLocks(self._file.with_name(f"{self._file.name}.owners"))
            self._executor_id = f"owner-{self._locks.number}"
        # DBOS warns about workflow names that are registered again, as they are here.
        logging.getLogger("dbos").setLevel(logging.ERROR)
        self._dbos(
            config={
                "name": "agent-tui",
                "system_database_url": self._url,
                "application_version": VERSION,
                "executor_id": self._executor_id,
                "serializer": DBOSPortableJSONSerializer(),
                "notification_listener_polling_interval_sec": POLL_S,
                "log_level": "ERROR",
                "db_engine_kwargs": {"connect_args": connect_options()} if self._file else {},
            }
        )

        async def work(options_json: str) -> str:
            return await self._run_workflow(options_json)

        self._workflow = self._dbos.workflow(name=WORKFLOW)(work)
        self._dbos.launch()

    async def _take_over(self) -> None:
        """Resume the runs of processes that have ended."""
        if self._locks is None:
            return
        dead = [f"owner-{number}" for number in self._locks.take_dead()]
        if not dead:
            return
        workflows = await self._dbos.list_workflows_async(executor_id=dead, status=["PENDING"])
        for each in workflows:
            await self._dbos.resume_workflow_async(each.workflow_id)

    async def _run_workflow(self, options_json: str) -> str:
        """Run the agent, waiting for approvals in between: the workflow."""
        use_steps(_DurableSteps(self._dbos))
        options = json.loads(options_json)
        agent = self._agents.get(options["agent"])
        if agent is None:
            raise UserError(f"DurableRunner was not given the agent {options['agent']!r}.")
        state = RunState(
            RunContextWrapper(self._context), options["input"], agent, options["max_turns"]
        )
        runner = AgentRunner()
        try:
            while True:
                result = await runner.run(
                    agent,
                    state,
                    max_turns=options["max_turns"],
                    hooks=self._hooks,
                    run_config=self._config,
                )
                state = result.to_state()
                if not state.is_interrupted:
                    break
                await self._await_answer(state)
        except AgentsException as error:
            return json.dumps({"error": type(error).__name__, "message": str(error)})
        return state.to_string()

    async def _await_answer(self, state: RunState) -> None:
        """Wait for one decision, up to a year at a time, and apply it to the state."""
        await self._dbos.set_event_async(WAITING, state.to_string())
        text = None
        while text is None:
            text = await self._dbos.recv_async(ANSWER, timeout_seconds=A_YEAR_S)
        await self._dbos.set_event_async(WAITING, "")
        answer = json.loads(text)
        for call in state.get_interruptions():
            if call.call_id != answer["call_id"]:
                continue
            if answer["approved"]:
                state.approve(call, answer["always"])
            else:
                state.reject(call, answer["always"], rejection_message=answer["message"])

    async def _state(self, data: Mapping[str, RawItem]) -> RunState:
        agent = self._agents.get(data["starting_agent"])
        if agent is None:
            agents = {
                name: each
                for one in self._agents.values()
                for name, each in agents_by_name(one).items()
            }
            agent = agents.get(data["starting_agent"])
        if agent is None:
            raise UserError(f"DurableRunner was not given the agent {data['starting_agent']!r}.")
        return await RunState.from_json(agent, data, context_override=self._context)


def _address(database: str | Path) -> tuple[str, Path | None]:
    """Return the URL of a database, and its file if it is SQLite."""
    text = str(database)
    if text.startswith(("postgres://", "postgresql://")):
        return text, None
    path = Path(text.removeprefix("sqlite:///")).absolute()
    return f"sqlite:///{os.fspath(path)}", path


def _load() -> type[DBOS]:
    try:
        from dbos import DBOS
    except ImportError as error:
        raise UserError("Durable runs need DBOS: pip install 'agent-tui[durable]'") from error
    return DBOS
