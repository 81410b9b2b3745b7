"""Hooks in whole conversations: they guard, tidy, insist, inform, audit, rewrite and answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.events import HookFinished, Notice
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.journeys.conftest import Begin, no, results, terminal

DONE = Turn((Text("Done."),))


def configure(home: Path, event: str, *handlers: str | Mapping[str, Any], **group: str) -> None:
    """Put hooks into the user's settings; a text is a command."""
    full = [
        {"type": "command", "command": handler} if isinstance(handler, str) else handler
        for handler in handlers
    ]
    path = home / ".agent" / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": {event: [{**group, "hooks": full}]}}))


def bash(command: str) -> Turn:
    return Turn((ToolCall("Bash", {"command": command}),))


async def test_a_guard_on_rm_denies_and_informs_the_model(begin: Begin, fresh_home: Path) -> None:
    guard = {"type": "command", "command": "echo 'Use .trash/ instead.' >&2; exit 2"}
    configure(fresh_home, "PreToolUse", {**guard, "if": "Bash(rm *)"}, matcher="Bash")
    journey = await begin([bash("rm notes.txt"), DONE])
    (journey.project / "notes.txt").write_text("keep")

    events = await journey.send("clean up")

    assert (journey.project / "notes.txt").exists()
    assert [result.outcome for result in results(events)] == ["denied"]
    told = str(journey.last_messages()[-1]["content"][0]["content"])
    assert told.startswith("Permission denied: hook \"echo 'Use .trash/ instead.' >&2; exit 2\"")
    assert told.endswith("(user): Use .trash/ instead.")
    assert journey.person.asked == []
    assert terminal(events).reason == "completed"


async def test_a_broken_guard_is_visible_and_blocks_nothing(begin: Begin, fresh_home: Path) -> None:
    configure(fresh_home, "PreToolUse", "no-such-guard", matcher="Bash")
    journey = await begin([bash("echo ran > out"), DONE])

    events = await journey.send("go")

    assert (journey.project / "out").exists()
    notices = [line for e in events if isinstance(e, HookFinished) for line in e.notices]
    notices += [e.text for e in events if isinstance(e, Notice)]  # whichever finds it first
    assert any("no-such-guard" in line and "not on the PATH of hooks" in line for line in notices)


async def test_a_formatter_runs_after_an_edit(begin: Begin, fresh_home: Path) -> None:
    tidy = "f=$(jq -r .tool_input.file_path); sed -i 's/ *$//' \"$f\""
    configure(fresh_home, "PostToolUse", tidy, matcher="Edit|Write")
    write = ToolCall("Write", {"file_path": "${cwd}/a.txt", "content": "blanks   \n"})
    journey = await begin([Turn((write,)), DONE])

    await journey.send("write it")

    assert (journey.project / "a.txt").read_text() == "blanks\n"


async def test_a_stop_hook_makes_the_agent_continue_until_it_is_content(
    begin: Begin, fresh_home: Path
) -> None:
    insist = "test -e tested || { echo 'Run the tests first.' >&2; exit 2; }"
    configure(fresh_home, "Stop", insist)
    journey = await begin([Turn((Text("Done."),)), bash("touch tested"), DONE])

    events = await journey.send("fix it")

    assert (journey.project / "tested").exists()
    assert len(journey.server.requests) == 3
    assert "Run the tests first." in str(journey.server.requests[1].body["messages"][-1])
    assert (terminal(events).reason, terminal(events).turns) == ("completed", 3)


async def test_what_a_stop_hook_continues_counts_as_a_turn(begin: Begin, fresh_home: Path) -> None:
    configure(fresh_home, "Stop", "echo 'Not yet.' >&2; exit 2")
    journey = await begin([Turn((Text("Done."),), times=0)], max_turns=2)

    events = await journey.send("fix it")

    assert (terminal(events).reason, terminal(events).turns) == ("max_turns", 2)
    assert len(journey.server.requests) == 3


async def test_context_of_the_start_reaches_the_model(begin: Begin, fresh_home: Path) -> None:
    configure(fresh_home, "SessionStart", "echo 'Release freeze: documentation only.'")
    journey = await begin([DONE])

    await journey.send("hello")

    assert "Release freeze: documentation only." in str(journey.last_messages())


async def test_an_audit_server_is_informed_of_every_call(begin: Begin, fresh_home: Path) -> None:
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split("\r\n")[0])
        heard.put_nowait(json.loads(await reader.readexactly(length)))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        audit = {"type": "http", "url": f"http://localhost:{port}/audit", "async": True}
        configure(fresh_home, "PostToolUse", audit)
        journey = await begin([bash("echo hi"), DONE])
        await journey.send("go")
        payload = await heard.get()

    assert (payload["tool_name"], payload["tool_input"]["command"]) == ("Bash", "echo hi")
    assert payload["tool_response"]["stdout"] == "hi"


async def test_no_classifier_answers_what_a_hook_asks_about(begin: Begin, fresh_home: Path) -> None:
    ask = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}
    configure(fresh_home, "PreToolUse", f"echo '{json.dumps(ask)}'", matcher="Bash")
    journey = await begin([bash("ls"), DONE], answers=[no()])
    (result,) = results(await journey.send("go"))
    assert result.outcome == "denied"
    assert len(journey.person.asked) == 1


async def test_a_rewritten_command_is_what_is_decided_and_run(
    begin: Begin, fresh_home: Path
) -> None:
    rewrite = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": {"command": "touch rewritten"},
        }
    }
    configure(fresh_home, "PreToolUse", f"echo '{json.dumps(rewrite)}'", matcher="Bash")
    journey = await begin([bash("touch original"), DONE])

    events = await journey.send("go")

    assert (journey.project / "rewritten").exists()
    assert not (journey.project / "original").exists()
    ((request, pending),) = journey.person.asked
    assert request.tool_input["command"] == "touch rewritten"
    assert pending.message.endswith("(user) changed the input")
    (told,) = (event.text for event in events if event.type == "notice")
    assert told.endswith("(user) changed the input of Bash: command was touch original")


async def test_a_hook_answers_a_permission_before_the_user_does(
    begin: Begin, fresh_home: Path
) -> None:
    allow = {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "allow"},
        }
    }
    configure(fresh_home, "PermissionRequest", f"echo '{json.dumps(allow)}'")
    journey = await begin([bash("touch made"), DONE], answers=[None])

    events = await journey.send("go")

    assert (journey.project / "made").exists()
    assert [result.outcome for result in results(events)] == ["ok"]


@pytest.mark.parametrize("has_person", [True, False])
async def test_permission_hooks_do_not_see_calls_that_need_no_permission(
    begin: Begin, fresh_home: Path, *, has_person: bool
) -> None:
    seen = fresh_home / "seen"
    configure(fresh_home, "PermissionRequest", f"jq -r .tool_input.command >> {seen}")
    journey = await begin([bash("echo hi"), bash("touch made"), DONE], has_person=has_person)

    await journey.send("go")

    assert seen.read_text() == "touch made\n"


async def test_a_prompt_can_be_refused_before_the_model_sees_it(
    begin: Begin, fresh_home: Path
) -> None:
    configure(fresh_home, "UserPromptSubmit", "echo 'No secrets, please.' >&2; exit 2")
    journey = await begin([DONE])

    await journey.send("my key is 123")

    assert journey.server.requests == []


async def test_what_looks_wrong_in_settings_is_reported_with_a_short_path(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    handler = {"type": "command", "command": "true", "timeout": 5000}
    configure(fresh_home, "Stop", handler)
    configure(tmp_path / "a project", "Stop", handler)
    journey = await begin([DONE], trust=True)
    said = [line for line in journey.assembled.notices if "milliseconds" in line]
    assert [line.partition(": ")[0] for line in said] == [
        ".agent/settings.json",
        "~/.agent/settings.json",
    ]
