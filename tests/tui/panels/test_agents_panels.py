"""Agents on the screen: the list above the prompt, /tasks and /agents."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.events import MessageCommitted, PermissionRequested, PermissionResolved, ToolDispatch
from agent.messages import user_message
from agent.session.records import AgentRecord
from agent.subagents.agent_files import AgentFiles
from agent.subagents.agent_journal import AgentJournal
from agent.subagents.builtin_agents import BUILTIN_AGENTS
from agent.subagents.definition import AgentSource
from agent.subagents.definition_fields import agent_from_markdown
from agent.subagents.running_agent import RunningAgent
from agent.tools.agent_port import AgentTask
from permissions.decision import Behavior
from permissions.resolve.handlers import user_decision
from tests.tui.app.test_app_keys import settled, text_of
from tests.tui.recorded import RecordedConversation, make_app
from themes.theme import Role
from tui.panels import agent_view
from tui.panels.text_panel import TextPanel, text_rows
from tui.transcript.agent_rows import agent_rows


def agent(tmp_path: Path, number: int = 1, **fields: object) -> RunningAgent:
    return RunningAgent(
        id=f"explore-{number}",
        definition=BUILTIN_AGENTS[1],
        task=AgentTask(description="find the plum", prompt="Find it.", tool_use_id="u1"),
        depth=1,
        parent_id=None,
        transcript=tmp_path / f"explore-{number}.jsonl",
        state="working",
        **fields,  # type: ignore[arg-type]
    )


def words(agents: list[RunningAgent], width: int = 100) -> list[str]:
    return ["".join(text for text, _ in row.runs) for row in agent_rows(agents, width)]


def test_a_row_shows_the_call_and_what_was_used(tmp_path: Path) -> None:
    one = agent(tmp_path)
    one.on_event(ToolDispatch("u1", "x", "Grep", {}, "Grep plum", agent_id=one.id))
    one.use.tokens, one.use.usd = 34_000, 0.21
    (line,) = words([one])
    assert line.startswith("   ● explore-1  Grep plum  1 tool · 34k tok · $0.21 · ")


def test_who_needs_an_answer_comes_first_and_in_words(tmp_path: Path) -> None:
    working, asking = agent(tmp_path), agent(tmp_path, 2)
    ask = user_decision(Behavior.ALLOW)
    asking.on_event(PermissionRequested("u1", "r", "x", "Bash", {}, ask, agent_id="explore-2"))
    assert "explore-2  needs you" in words([working, asking])[0]
    asking.on_event(PermissionResolved("u1", "r", "x", ask, agent_id="explore-2"))
    assert "explore-1" in words([working, asking])[0]


def test_what_ended_well_leaves_and_what_failed_stays(tmp_path: Path) -> None:
    done, failed = agent(tmp_path), agent(tmp_path, 2)
    done.state, failed.state = "completed", "failed"
    done.ended_s = failed.ended_s = done.started_s
    assert [line.split()[1] for line in words([done, failed])] == ["explore-2"]


def test_the_color_of_a_definition_is_that_of_the_name(tmp_path: Path) -> None:
    one = agent(tmp_path)
    one.definition = replace(one.definition, color="pink")
    inks = dict(agent_rows([one], 100)[0].runs)
    assert inks["explore-1"].role == Role.SHELL


def test_no_row_is_wider_than_the_window_and_many_are_counted(tmp_path: Path) -> None:
    agents = [agent(tmp_path, number) for number in range(30)]
    lines = words(agents, 40)
    assert len(lines) == 9
    assert all(len(line) <= 40 for line in lines)
    assert "and 22 more" in lines[-1]


async def test_a_transcript_is_followed_while_the_agent_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_view, "POLL_S", 0.01)
    conversation = RecordedConversation([])
    assert conversation.commands is not None
    supervisor = conversation.commands.context.agents
    one = agent(tmp_path)
    monkeypatch.setattr(supervisor, "all", lambda: (one,))
    journal = AgentJournal(one.transcript)
    await journal.begin(AgentRecord(one.id, "explore", "find"), tmp_path, "1")
    await journal.event(MessageCommitted("u1", user_message("Find the plum."), one.id), ())
    app = make_app(conversation)
    async with app.run_test(size=(90, 24)) as pilot:

        async def shows(text: str) -> None:
            async with asyncio.timeout(20):
                while text not in text_of(app.parts.dialogs):
                    await settled(pilot)

        async with asyncio.timeout(20):
            while "explore-1" not in text_of(app.parts.agents_panel):
                await settled(pilot)
        app.parts.submission.submit("/tasks")
        await shows("explore-1  find the plum")
        await pilot.press("enter")
        await shows("Find the plum.")
        await journal.event(MessageCommitted("u1", user_message("And the pear."), one.id), ())
        await shows("And the pear.")
        # From where one reads: a message, and a question that comes meanwhile.
        await pilot.press("m")
        await shows("To explore-1")
        await pilot.press(*"pears", "enter")
        await shows("And the pear.")
        assert one.inbox == ["pears"]
        asking = TextPanel("Run this?", text_rows("rm"))
        app.parts.dialogs.open(asking)
        await shows("Run this?")
        app.parts.dialogs.close(asking)
        await shows("And the pear.")
        await pilot.press("escape")
        await shows("del stop")
        await pilot.press("m")
        await shows("To explore-1")
        await pilot.press(*"more", "enter")
        await shows("del stop")
        assert one.inbox == ["pears", "more"]
        await pilot.press("delete")
        await shows("del stop")
        assert one.stopped_by == "user"
        assert one.controller.signal.aborted
        await pilot.press("escape")
        await settled(pilot)
    await journal.aclose()


async def test_a_transcript_is_scrolled_back_to_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_view, "PAGE_CHARS", 600)
    conversation = RecordedConversation([])
    assert conversation.commands is not None
    one = agent(tmp_path)
    monkeypatch.setattr(conversation.commands.context.agents, "all", lambda: (one,))
    journal = AgentJournal(one.transcript)
    await journal.begin(AgentRecord(one.id, "explore", "find"), tmp_path, "1")
    for number in range(80):
        said = MessageCommitted("u1", user_message(f"Line {number:03}."), one.id)
        await journal.event(said, ())
    await journal.aclose()
    app = make_app(conversation)
    async with app.run_test(size=(90, 24)) as pilot:
        await settled(pilot)
        app.parts.submission.submit("/tasks")
        for shown, key in (("explore-1  find", "enter"), ("Line 079.", None)):
            async with asyncio.timeout(20):
                while shown not in text_of(app.parts.dialogs):
                    await settled(pilot)
            if key is not None:
                await pilot.press(key)
        for _ in range(60):
            before = text_of(app.parts.dialogs)
            if "Line 000." in before:
                break
            # What was at the top stays in sight while more is put in front.
            await pilot.press("up")
            await settled(pilot)
            assert set(before.split()) & set(text_of(app.parts.dialogs).split())
            await pilot.press("home")
            await settled(pilot)
        assert "Line 000." in text_of(app.parts.dialogs)
        await pilot.press("end")
        await settled(pilot)
        assert "Line 079." in text_of(app.parts.dialogs)
        await pilot.press("escape", "escape")
        await settled(pilot)


async def test_the_kinds_are_shown_made_and_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = RecordedConversation([[]])
    app = make_app(conversation)
    async with app.run_test(size=(90, 30)) as pilot:

        async def shows(text: str) -> None:
            async with asyncio.timeout(20):
                while text not in text_of(app.parts.dialogs):
                    await settled(pilot)

        await settled(pilot)
        app.parts.submission.submit("/agents")
        await shows("reviewer")
        await shows("every tool")
        await pilot.press("n", *"db", "space", *"x", "enter")
        await shows("db x cannot be its name.")
        assert "❯ db x" in text_of(app.parts.dialogs)
        await pilot.press("escape")
        await shows("every tool")
        await pilot.press("t")
        await shows("Try general-purpose")
        await pilot.press(*"count", "enter")
        async with asyncio.timeout(20):
            while not conversation.received:
                await settled(pilot)
        assert "kind general-purpose: count" in conversation.received[0]


async def test_the_file_of_an_agent_is_deleted_after_a_confirmation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "db.md"
    path.write_text("---\nname: db\ndescription: Looks at tables\n---\nYou look.")
    definition = agent_from_markdown(path.read_bytes(), source=AgentSource.USER, path=path)
    app = make_app(RecordedConversation([[]]))
    async with app.run_test(size=(90, 30)) as pilot:

        async def shows(text: str) -> None:
            async with asyncio.timeout(20):
                while text not in text_of(app.parts.dialogs):
                    await settled(pilot)

        await settled(pilot)
        service = app.parts.conversations.commands
        assert service is not None
        monkeypatch.setattr(
            service.context.agents.catalog,
            "_read",
            lambda: AgentFiles((definition,) if path.exists() else ()),
        )
        app.parts.submission.submit("/agents")
        await shows("Looks at tables")
        await pilot.press("ctrl+x")
        await shows("── Delete db ──")
        await pilot.press("enter")
        await shows("Looks at tables")
        assert path.exists()
        await pilot.press("ctrl+x")
        await shows("── Delete db ──")
        await pilot.press(*"remove", "enter")
        await shows("general-purpose")
        assert not path.exists()
        assert "Looks at tables" not in text_of(app.parts.dialogs)
