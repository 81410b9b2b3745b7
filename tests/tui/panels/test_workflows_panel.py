"""/workflows and the row above the prompt: what a user sees and does with runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from agent.abort import AbortController
from agent.orchestration.journal.journal_records import (
    OwnerRequest,
    RunRecord,
    StepRecord,
    StepState,
)
from agent.orchestration.run_figures import RunFigures, run_figures
from agent.orchestration.workflows import Workflows
from agent.tools.workflow_port import WorkflowCall
from tests.tui.app.test_app_keys import settled, text_of
from tests.tui.recorded import RecordedConversation, make_app
from tests.tui.recorded_workflows import HeldAgents, recorded_workflows
from tui.app.session.session_control import ExitReport
from tui.panels import workflow_run
from tui.status_line.run_rows import figures_text

Shows = Callable[[str], Awaitable[None]]


class Screen:
    """The program with workflows, and what its user does."""

    def __init__(self, pilot: Pilot[ExitReport], conversation: RecordedConversation) -> None:
        self.pilot = pilot
        assert conversation.commands is not None
        self.workflows: Workflows = conversation.commands.context.workflows
        self.parts = pilot.app.parts  # type: ignore[attr-defined]

    async def shows(self, text: str) -> None:
        async with asyncio.timeout(20):
            while text not in text_of(self.parts.dialogs):
                await settled(self.pilot)

    async def start(self, *tasks: str) -> str:
        call = WorkflowCall(subtasks=list(tasks), in_background=True)
        started = await self.workflows.start(call, "t", AbortController().signal)
        return started.run_id


@asynccontextmanager
async def screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agents: HeldAgents, *, height: int = 24
) -> AsyncIterator[Screen]:
    monkeypatch.setattr(workflow_run, "POLL_S", 0.01)
    conversation = RecordedConversation([], launch_dir=tmp_path)
    assert conversation.commands is not None
    own = recorded_workflows(tmp_path, tmp_path, agents)
    context = replace(conversation.commands.context, workflows=own)
    conversation.commands = replace(conversation.commands, context=context)
    app = make_app(conversation)
    async with app.run_test(size=(80, height)) as pilot:
        await settled(pilot)
        yield Screen(pilot, conversation)
        agents.go.set()
        await own.aclose()


async def test_runs_are_listed_opened_paused_continued_and_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = HeldAgents()
    async with screen(tmp_path, monkeypatch, agents) as user:
        run_id = await user.start("look at one", "look at two")
        user.parts.lines.show()
        assert "◆ subtasks" in text_of(user.parts.agents_panel)
        user.parts.submission.submit("/workflows")
        await user.shows("2 running")
        await user.shows(run_id)
        await user.pilot.press("enter")
        await user.shows("agent 2  look at two")
        await user.pilot.press("p")
        await user.shows("a user paused it")
        await user.pilot.press("p")
        await user.shows("running · 0/4")
        agents.go.set()
        await user.shows("completed · 4/4")
        await user.shows("confirmed · 1.2k tok · $0.02")
        await user.shows("verify 1  checks: look at one")
        await user.pilot.press("enter")
        await user.shows("found: look at one")
        await user.pilot.press("escape")
        await user.shows("v result")
        await user.pilot.press("v")
        await user.shows("[verify 1]")
        await user.pilot.press("escape")
        await user.shows("v result")
        await user.pilot.press("escape")
        await user.shows("enter open")
        agents.go.clear()
        await user.start("look at three")
        await user.shows("investigate  0/2")
        await user.pilot.press("up", "x")
        await user.shows("a user stopped it")


async def test_an_open_run_of_another_process_gets_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = HeldAgents()
    async with screen(tmp_path, monkeypatch, agents) as user:
        record = RunRecord(id="audit-1", name="audit", kind="script", script="", owner="elsewhere")
        await user.workflows.journal.add(record)
        user.parts.submission.submit("/workflows")
        await user.shows("in another process")
        await user.pilot.press("x")
        await settled(user.pilot)

        async def request() -> OwnerRequest:
            return await user.workflows.journal.renew("audit-1", "elsewhere")

        async with asyncio.timeout(20):
            while await request() is not OwnerRequest.STOP:
                await settled(user.pilot)
        await user.pilot.press("escape")


async def test_a_run_is_saved_as_a_workflow_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = HeldAgents()
    agents.go.set()
    async with screen(tmp_path, monkeypatch, agents) as user:
        await user.workflows.to_the_end(await user.start("look at one"))
        user.parts.submission.submit("/workflows")
        await user.shows("completed")
        await user.pilot.press("s", *"audit", "enter")
        await user.shows("enter open")
        context = user.parts.conversations.commands.context
        saved = context.settings().project_root / ".agent" / "workflows" / "audit.js"
        assert "look at one" in saved.read_text()


async def test_without_a_run_it_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screen(tmp_path, monkeypatch, HeldAgents()) as user:
        user.parts.submission.submit("/workflows")
        await user.shows("/orchestrate on")


def test_totals_of_a_script_are_open_until_it_is_over() -> None:
    run = RunRecord(id="r", name="r", kind="script", script="")
    step = StepRecord(run="r", key="k", state=StepState.RUNNING, phase="Find")
    failed = replace(step, key="f", state=StepState.FAILED, tokens=10)
    figures = run_figures(run, [step, failed])
    assert (figures.progress, figures.phase, figures.usd) == ("0/≥2", "Find", None)
    assert figures_text(figures, 12_345) == "1 running · 1 failed · 12.3k tok"


def test_the_total_of_subtasks_counts_their_verifiers() -> None:
    run = RunRecord(id="r", name="subtasks", kind="subtasks", script='["a", "b"]')
    assert run_figures(run, []).progress == "0/4"
    unverified = StepRecord(run="r", key="k", state=StepState.FAILED, phase="investigate")
    assert run_figures(run, [unverified]).progress == "0/3"
    assert RunFigures().progress == "0/0"
