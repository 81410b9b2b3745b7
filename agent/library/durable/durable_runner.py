"""Durable runs: recorded step by step, so that another process continues where one was killed.

    async with DurableRunner([agent], "runs.db") as runner:
        run = await runner.start(agent, "Delete the old branches", run_id="cleanup-7")
        for call in await run.interruptions():
            await run.approve(call)
        print((await run.result()).final_output)

A model call or a tool that has finished is never repeated; one that was under way is. What is
recorded is JSON. Instructions, filters, guardrails and hooks run again when a run is taken up.
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
"""Runs that another version began are not taken up: it changes with the order of steps."""
WORKFLOW: Final = "agent-tui.run"
WAITING: Final = "waiting"
ANSWER: Final = "answer"
LOOK_S: Final = 0.5
"""How often it is looked whether a run has ended or waits."""
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
    """Reserves steps of the workflow that runs here."""

    is_recorded = True

    def __init__(self, dbos: type[DBOS]) -> None:
        self._dbos = dbos

    def reserve(self, name: str) -> _DurableStep:
        return _DurableStep(self._dbos.reserve_step(), name)


class DurableRun:
    """A run that was started, here or elsewhere."""

    def __init__(self, runner: DurableRunner, run_id: str) -> None:
        """`run_id` names it in every process."""
        self._runner = runner
        self.run_id = run_id

    async def interruptions(self) -> list[ToolApprovalItem]:
        """Return the calls that wait for approval, once there are any; none when it has ended."""
        while True:
            state = await self._runner.waiting_state(self.run_id)
            if state is not None:
                return state.get_interruptions()
            if await self._runner.outcome(self.run_id) is not None:
                return []
            await self._runner.look_again()

    async def approve(self, call: ToolApprovalItem, always_approve: bool = False) -> None:
        """Let a call run."""
        await self._answer(call, {"approved": True, "always": always_approve})

    async def reject(
        self,
        call: ToolApprovalItem,
        always_reject: bool = False,
        rejection_message: str | None = None,
    ) -> None:
        """Refuse a call."""
        answer = {"approved": False, "always": always_reject, "message": rejection_message}
        await self._answer(call, answer)

    async def result(self) -> RunResult:
        """Return what the run returned, once it has ended.

        Raises:
            AgentsException: what ended the run; by its name and text alone where it was recorded.
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
        """Name the agents that runs begin with: a run is taken up with the one of the same name.

        Args:
            database: A file for SQLite, or an address `postgresql://…` for several machines.
            context: For tools and hooks; not recorded.
            executor_id: Of this process, for Postgres: unique among those that live, and the same
                again for the one that takes over. Files have locks for that.

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
        """Open the database and take up runs that no living process works on."""
        await asyncio.to_thread(self._launch)
        await self._take_over()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go of the database; runs that have not ended are taken up elsewhere."""
        # DBOS made its own threads those of the loop, and they end with it.
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
        """Begin a run; one of that id that exists is returned as it is.

        Raises:
            UserError: the agent is none of those that the runner was given.
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
        """Return a run that was started before."""
        return DurableRun(self, run_id)

    # -- for runs ---------------------------------------------------------------------------

    async def outcome(self, run_id: str) -> Mapping[str, RawItem] | None:
        """Return how a run ended; None while it has not.

        Raises:
            UserError: there is no such run, or it was cancelled.
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
        """Return the state that waits for approvals; None while there is none."""
        text = await self._dbos.get_event_async(run_id, WAITING, timeout_seconds=0)
        return await self._state(json.loads(text)) if text else None

    async def read_outcome(self, outcome: Mapping[str, RawItem]) -> RunResult:
        """Return the result of a run that ended. Raises what ended it."""
        if "error" in outcome:
            kind: RawItem = getattr(run_exceptions, outcome["error"], AgentsException)
            error = kind.__new__(kind)
            Exception.__init__(error, outcome["message"])
            raise error
        state = await self._state(outcome)
        return result_of(state)

    async def send(self, run_id: str, answer: Mapping[str, RawItem]) -> None:
        """Send an answer about a call to a run."""
        await self._dbos.send_async(run_id, json.dumps(answer), topic=ANSWER)

    async def look_again(self) -> None:
        """Wait a moment, and take up what a process that died meanwhile left."""
        await asyncio.sleep(LOOK_S)
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
        # Its warnings are about names that it is given again, which is how runs are taken up.
        logging.getLogger("dbos").setLevel(logging.ERROR)
        self._dbos(
            config={
                "name": "agent-tui",
                "system_database_url": self._url,
                "application_version": VERSION,
                "executor_id": self._executor_id,
                "serializer": DBOSPortableJSONSerializer(),
                "notification_listener_polling_interval_sec": LOOK_S,
                "log_level": "ERROR",
                "db_engine_kwargs": {"connect_args": connect_options()} if self._file else {},
            }
        )

        async def work(options_json: str) -> str:
            return await self._work(options_json)

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

    async def _work(self, options_json: str) -> str:
        """Run, wait for approvals, run on: the workflow."""
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
        """Wait for one answer, for as long as it takes, and put it into the state."""
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
    """Return the address of a database, and its file for SQLite."""
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
