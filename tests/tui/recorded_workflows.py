"""The workflows of a recorded conversation: a real journal, and agents that a test answers for."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.abort import AbortSignal
from agent.display import WorkflowDisplay
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_records import StepState
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder
from agent.orchestration.workflow_files import WorkflowPlaces
from agent.orchestration.workflows import Workflows, WorkflowSurround


def audit_display(script: str, last_script: str, mode: str = "default") -> WorkflowDisplay:
    """What the question before a workflow shows of an audit that ran before."""
    return WorkflowDisplay(
        name="audit",
        description="Looks at every route",
        phases=("Find: one agent a route", "Refute"),
        most_agents=1_000,
        at_once=10,
        agents_left=388,
        earlier_runs=3,
        earlier_agents=36,
        earlier_usd=1.26,
        mode=mode,
        path=".agent/workflows/audit.js",
        script=script,
        last_script=last_script,
    )


class HeldAgents:
    """Agents that answer once they are let go; each is asked once."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked: list[AgentOrder] = []

    async def run(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        self.asked.append(order)
        going = asyncio.ensure_future(self.go.wait())
        aborted = asyncio.ensure_future(abort.wait())
        await asyncio.wait({going, aborted}, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (going, aborted):
            waiting.cancel()
        if not self.go.is_set():
            return AgentAnswer(state=StepState.PARTIAL, reason="it was stopped")
        is_check = "REFUTE" in order.prompt
        summary = "confirmed: seen" if is_check else f"found: {order.prompt}"
        return AgentAnswer(
            state=StepState.DONE,
            value={"summary": summary, "findings": []},
            tokens=1_200,
            cost_usd=0.02,
        )


def recorded_workflows(
    root: Path, home: Path, agents: HeldAgents | None = None, mode: str = "default"
) -> Workflows:
    """Workflows with a journal below the home directory."""

    def open_store() -> JournalStore:
        path = home / ".agent" / "workflows" / "journal.sqlite"
        return JournalStore(SqliteConnection(path))

    held = agents or HeldAgents()
    surround = WorkflowSurround(
        session="s",
        places=lambda: WorkflowPlaces(home, home / ".agent", root, root),
        mode=lambda: mode,
        run_agent=held.run,
        confine=lambda launch: launch,
    )
    return Workflows(surround, Journal(open_store, lambda _: None))
