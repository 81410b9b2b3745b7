"""Built-in commands that act on a conversation: beside it, on its mode, on a copy of it."""

from __future__ import annotations

import json

from msgspec.structs import replace

from agent.commands.command_results import (
    ClearConversation,
    CommandResult,
    CopyText,
    OpenSession,
    ShowText,
)
from agent.commands.headless import run_typed_command
from agent.commands.spec import LocalCommand
from agent.model.scripted.scenario import Text, ToolCall, Turn
from agent.observe.debug_log import debug_path
from agent.session.archive.history_pages import SessionPages
from agent.session.resume import load
from agent.session.store import SessionStore
from agent.user_prompt import Prompt
from permissions.mode import Mode
from tests.journeys.conftest import Begin, Journey, no

HELLO = Turn((Text("Hello there."),))
ASIDE = Turn((Text("Because of the tests."),))


async def do(journey: Journey, name: str, arguments: str = "") -> CommandResult:
    command_service = journey.assembled.commands
    command = command_service.registry.find(name)
    assert isinstance(command, LocalCommand)
    return await command_service.run_local(command, arguments)


async def said(journey: Journey, name: str, arguments: str = "") -> str:
    result = await do(journey, name, arguments)
    assert isinstance(result, ShowText)
    return result.text


async def test_a_question_beside_sees_the_conversation_and_leaves_nothing(begin: Begin) -> None:
    journey = await begin([HELLO, ASIDE, HELLO])
    await journey.send("first")
    before = journey.conversation.view.messages
    assert "Because of the tests." in await said(journey, "btw", "why?")
    request = journey.server.requests[-1].body
    assert "first" in str(request["messages"])
    assert "why?" in str(request["messages"][-1])
    assert request["tool_choice"] == {"type": "none"}
    assert request["tools"] == journey.server.requests[0].body["tools"]
    assert journey.conversation.view.messages == before
    await journey.send("second")
    assert "why?" not in str(journey.last_messages())


async def test_a_question_beside_a_running_call_sends_a_valid_history(begin: Begin) -> None:
    write = ToolCall("Write", {"file_path": "${cwd}/made.txt", "content": "x"})
    journey = await begin([Turn((write,)), ASIDE], answers=[no()])
    answers: list[str] = []
    async for event in journey.conversation.run(Prompt("go")):
        if event.type == "permission_requested":
            answers.append(await said(journey, "btw", "why?"))
    assert "Because of the tests." in answers[0]


async def test_a_recap_needs_something_to_tell(begin: Begin) -> None:
    journey = await begin([HELLO, Turn((Text("You said hello."),))])
    assert await said(journey, "recap") == "Nothing to summarize yet."
    await journey.send("hello")
    assert await said(journey, "recap") == "You said hello."


async def test_what_a_summary_replaced_can_still_be_copied_and_reported(begin: Begin) -> None:
    long, summary = Turn((Text("word " * 2_000),)), Turn((Text("They greeted each other."),))
    journey = await begin([HELLO, long, summary, Turn((Text("You said hello."),))])
    await journey.send("hello")
    await journey.send("hello again")
    events = [event async for event in journey.conversation.controls.compact()]
    assert any(event.type == "compacted" for event in events)
    copied = await do(journey, "copy", "2")
    assert isinstance(copied, CopyText)
    assert copied.text == "Hello there."
    assert "2 answers" in await said(journey, "copy", "9")
    assert await said(journey, "recap") == "You said hello."


async def test_a_call_keeps_the_time_that_it_showed(begin: Begin) -> None:
    """Without the time in which the user was asked."""
    write = ToolCall("Write", {"file_path": "${cwd}/made.txt", "content": "x"})
    journey = await begin([Turn((write,)), HELLO])
    events = await journey.send("go")
    shown = [event.elapsed_s for event in events if event.type == "tool_result"]
    kept = SessionPages(journey.conversation.view.transcript_path).older().calls.values()
    assert [call.elapsed_s for call in kept] == shown


async def test_a_branch_is_a_copy_with_its_own_name(begin: Begin) -> None:
    journey = await begin([HELLO])
    await journey.send("hello")
    result = await do(journey, "branch", "  other way \x1b[1m ")
    assert isinstance(result, OpenSession)
    assert journey.conversation.view.session_id in result.notice
    copy = load(SessionStore(journey.environment.agent_home).get(result.session_id).path)
    assert copy.title == "other way"
    assert [m.text for m in copy.messages if m.origin == "person"] == ["hello"]


async def test_what_is_cleared_away_may_get_a_name(begin: Begin) -> None:
    journey = await begin([HELLO])
    await journey.send("hello")
    assert isinstance(await do(journey, "clear", " the  first try "), ClearConversation)
    old = load(
        SessionStore(journey.environment.agent_home).get(journey.conversation.view.session_id).path
    )
    assert old.title == "the first try"


async def test_a_branch_begins_with_an_empty_prompt(begin: Begin) -> None:
    journey = await begin([HELLO])
    await journey.send("hello")
    journey.conversation.prompt_queue.save_draft("/branch")
    # Records are written in turn: once the name is, so is the draft.
    await do(journey, "rename", "first")
    result = await do(journey, "branch")
    assert isinstance(result, OpenSession)
    copy = load(SessionStore(journey.environment.agent_home).get(result.session_id).path)
    assert copy.draft == ""


async def test_vim_is_a_setting_that_counts_at_once(begin: Begin) -> None:
    journey = await begin([])
    file = journey.environment.agent_home / "settings.json"
    assert await said(journey, "vim") == "Vim mode is on"
    assert json.loads(file.read_text())["editorMode"] == "vim"
    assert await said(journey, "vim") == "Vim mode is off"


async def test_the_debug_log_is_shown_or_explained(begin: Begin) -> None:
    journey = await begin([])
    assert "--debug -r" in await said(journey, "debug")
    path = debug_path(journey.environment.agent_home, journey.conversation.view.session_id)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\n" + b"line \x1b[31m\n" * 40)
    lines = (await said(journey, "debug")).splitlines()
    assert lines[0] == str(path)
    assert lines[-1] == "line "
    assert len(lines) == 16


async def test_agents_are_listed(begin: Begin) -> None:
    journey = await begin([])
    reply = await run_typed_command("/agents", journey.assembled.commands)
    assert reply is not None
    assert "reviewer (builtin): Read, Glob, Grep" in reply.text


async def test_what_needs_words_is_reported(begin: Begin) -> None:
    journey = await begin([])
    assert "after /" in await said(journey, "btw")


async def test_mode_offers_and_enters_what_can_be_entered_here(begin: Begin) -> None:
    journey = await begin([])
    gate = journey.conversation.gate
    shut = await said(journey, "mode")
    assert shut == "default mode; available: default, acceptEdits, plan, dontAsk"
    assert (await said(journey, "mode", "nonsense")).endswith("acceptEdits, plan, dontAsk.")
    assert "was not enabled at start" in await said(journey, "mode", "bypassPermissions")
    gate.replace_context(replace(gate.context, bypass_available=True), auto_available=True)
    assert (await said(journey, "mode")).endswith("dontAsk, bypassPermissions, auto")
    assert await said(journey, "mode", "plan") == "plan mode"
    assert gate.mode is Mode.PLAN
    assert "Unknown mode 'yolo'" in await said(journey, "mode", "yolo")
    assert gate.mode is Mode.PLAN
