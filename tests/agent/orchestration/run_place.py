"""A journal and a model for runs in one process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from agent.abort import AbortSignal
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_records import (
    Caps,
    RunRecord,
    StepState,
)
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder
from agent.orchestration.run.step_runner import AtLimit
from agent.orchestration.run.workflow_run import RunParts, WorkflowRun
from agent.orchestration.script.script_meta import ScriptError, WorkflowScript, read_script


class Model:
    """Agents that answer at once, or as they are told."""

    def __init__(self) -> None:
        self.orders: list[AgentOrder] = []
        self.at_once = self.most = 0
        self.answers: dict[str, list[AgentAnswer]] = {}
        self.started = asyncio.Event()
        self.holds: asyncio.Event | None = None
        self.aborted: list[str] = []

    async def run(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        self.orders.append(order)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        self.started.set()
        try:
            if self.holds is not None:
                waits = asyncio.ensure_future(self.holds.wait())
                aborted = asyncio.ensure_future(abort.wait())
                await asyncio.wait({waits, aborted}, return_when=asyncio.FIRST_COMPLETED)
                if aborted.done():
                    self.aborted.append(order.prompt)
            await asyncio.sleep(0)
        finally:
            self.at_once -= 1
        planned = self.answers.get(order.prompt)
        if planned:
            return planned.pop(0)
        summary = {"summary": "confirmed: yes", "findings": []}
        value = summary if order.label.startswith("verify") else f"did {order.prompt}"
        return AgentAnswer(state=StepState.DONE, value=value, tokens=10, cost_usd=1.0)


class Place:
    """A journal and a model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model = Model()
        self.warnings: list[str] = []
        self.notices: list[str] = []
        self.at_limit: AtLimit | None = None
        self.journals: list[Journal] = []
        self.journal = self.another_journal()
        self.scripts: dict[str, str] = {}

    def another_journal(self, open_store: Callable[[], JournalStore] | None = None) -> Journal:
        journal = Journal(open_store or self.opened, self.warnings.append)
        self.journals.append(journal)
        return journal

    def opened(self) -> JournalStore:
        return JournalStore(SqliteConnection(self.path))

    async def started(self, record: RunRecord, caps: Caps | None = None) -> WorkflowRun:
        await self.journal.add(record)
        parts = RunParts(
            self.journal,
            self.model.run,
            lambda launch: launch,
            self.find,
            caps or Caps(),
            at_limit=self.at_limit,
            notify=self.notices.append,
        )
        return WorkflowRun(record, parts)

    def find(self, name: str) -> WorkflowScript:
        if name not in self.scripts:
            raise ScriptError(f"there is no workflow {name}")
        return read_script(self.scripts[name])


def fan_out(
    *tasks: str, run: str = "r", budget_usd: float | None = None, max_agents: int = 1000
) -> RunRecord:
    return RunRecord(
        id=run,
        name="tasks",
        kind="subtasks",
        script=json.dumps(tasks),
        owner="me",
        session="c",
        budget_usd=budget_usd,
        max_agents=max_agents,
    )


def script(body: str) -> RunRecord:
    text = f"export const meta = {{ name: 'x', description: 'd' }};\n{body}"
    return RunRecord(id="r", name="x", kind="script", script=text, owner="me")
