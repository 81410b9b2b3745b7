"""Events and answers of hooks beyond the usual ones, in whole conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.errors import SwitchRefused, UsageError
from agent.model.scripted.scenario import Text, ToolCall, Turn, When
from permissions.mode import Mode
from tests.journeys.conftest import Begin, results, terminal
from tests.journeys.program import appeared

DONE = Turn((Text("Done."),))


def configure(home: Path, hooks: Mapping[str, str], **settings: Any) -> None:
    """Put one command per event into the user's settings."""
    path = home / ".agent" / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    groups = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in hooks.items()
    }
    path.write_text(json.dumps({"hooks": groups, **settings}))


def answer(event: str, **fields: object) -> str:
    """A command that answers with these fields of its event."""
    text = json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})
    return f"echo '{text}'"


def log_to(log: Path) -> str:
    return f"cat >> '{log}'; echo >> '{log}'"


def heard(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line]


def bash(command: str) -> Turn:
    return Turn((ToolCall("Bash", {"command": command}),))


def by(model: str, turn: Turn) -> Turn:
    return replace(turn, when=When(model=model))


async def test_the_classifier_sees_what_hooks_note_and_a_denied_call_may_be_tried_again(
    begin: Begin, fresh_home: Path
) -> None:
    hooks = {
        "PostToolUse": answer("PostToolUse", classifierContext="the tests have passed"),
        "PermissionDenied": answer("PermissionDenied", retry=True),
    }
    configure(fresh_home, hooks, autoMode={"enabled": True})
    no = Turn((Text(json.dumps({"decision": "deny", "reason": "why now"})),))
    turns = [
        by("haiku", no),
        # A tool that starts no program of its own, which could fail: then there would be no note.
        by("opus", Turn((ToolCall("Read", {"file_path": "${cwd}/notes.txt"}),))),
        by("opus", bash("touch made")),
        by("opus", DONE),
    ]
    journey = await begin(turns, answers=[None])
    (journey.project / "notes.txt").write_text("a note\n")
    journey.conversation.gate.set_mode(Mode.AUTO)

    events = await journey.send("look, then make a file")
    assert [event.outcome for event in results(events)] == ["ok", "denied"], results(events)
    problems = [event for event in events if event.type == "hook_finished" and event.notices]
    assert problems == []

    question = next(r.body for r in journey.server.requests if "haiku" in r.body["model"])
    shown = json.loads(question["messages"][0]["content"][0]["text"])
    assert shown["notes_of_hooks"] == ["the tests have passed"]
    assert "A hook says that you may try this call again." in str(journey.last_messages()[-1])


async def test_denials_by_rule_scope_and_mode_are_reported_and_not_to_be_tried_again(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    command = f"{log_to(log)}; {answer('PermissionDenied', retry=True)}"
    configure(fresh_home, {"PermissionDenied": command})
    write = ToolCall("Write", {"file_path": "/etc/made", "content": "x"})
    turns = [bash("git push"), Turn((write,)), bash("touch made"), DONE]
    journey = await begin(turns, has_person=False, deny=("Bash(git push:*)",))
    await journey.send("go")
    assert [payload["tool_name"] for payload in heard(log)] == ["Bash", "Write", "Bash"]
    assert "git push" in heard(log)[0]["reason"]
    assert "try this call again" not in str(journey.last_messages())


async def test_a_call_of_a_tool_that_a_rule_denies_by_name_is_denied(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    configure(fresh_home, {"PermissionDenied": log_to(log)})
    turns = [bash("ls"), Turn((ToolCall("mcp__a__b", {}),)), Turn((ToolCall("Bsh", {}),)), DONE]
    journey = await begin(turns, has_person=False, deny=("Bash", "mcp__a__b"))
    events = await journey.send("go")
    first, second, third = (result.text for result in results(events))
    assert first.startswith("Permission denied: ")
    assert "Bash" in first
    assert second.startswith("Permission denied: ")
    assert "There is no tool named 'Bsh'" in third
    assert [payload["tool_name"] for payload in heard(log)] == ["Bash", "mcp__a__b"]


async def test_a_start_gives_the_reason_and_its_context_reaches_the_model_each_time(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    hooks = {"SessionStart": f"cat >> '{log}'; echo >> '{log}'; echo 'context of a hook'"}
    configure(fresh_home, hooks)
    first = await begin([replace(DONE, times=0)])
    await first.send("one")
    await first.conversation.aclose()
    session_id = first.conversation.view.session_id
    ways: list[dict[str, Any]] = [{}, {"fork_session": True}]
    for times, options in enumerate(ways, start=2):
        again = await begin(server=first.server, resume=session_id, **options)
        await again.send("two")
        assert str(again.last_messages()).count("context of a hook") == times
        await again.conversation.aclose()
    cleared = await begin(server=first.server, after_clear=True)
    await cleared.send("three")
    await cleared.conversation.aclose()
    assert [payload["source"] for payload in heard(log)] == ["startup", "resume", "fork", "clear"]
    assert heard(log)[1]["context_tokens"] > 0


async def test_setup_hooks_run_before_the_start_and_inform_the_model(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    setup = f"{log_to(log)}; {answer('Setup', additionalContext='installed')}"
    configure(fresh_home, {"Setup": setup, "SessionStart": log_to(log)})
    journey = await begin([DONE], setup="init")
    await journey.send("go")
    assert [(p["hook_event_name"], p.get("trigger")) for p in heard(log)] == [
        ("Setup", "init"),
        ("SessionStart", None),
    ]
    assert "installed" in str(journey.last_messages())


async def test_a_hook_may_speak_first_without_a_screen(begin: Begin, fresh_home: Path) -> None:
    configure(
        fresh_home,
        {"SessionStart": answer("SessionStart", initialUserMessage="Read TODAY.md first.")},
    )
    alone = await begin([replace(DONE, times=0)], has_person=False)
    await alone.send("go")
    assert "Read TODAY.md first." in str(alone.last_messages())
    watched = await begin(server=alone.server)
    events = await watched.send("go")
    assert "Read TODAY.md first." not in str(watched.last_messages())
    assert "initialUserMessage" in str([e for e in events if e.type == "notice"])


async def test_a_hook_names_the_session(begin: Begin, fresh_home: Path) -> None:
    configure(fresh_home, {"UserPromptSubmit": answer("UserPromptSubmit", sessionTitle="Parser")})
    journey = await begin([DONE])
    await journey.send("go")
    await journey.conversation.aclose()
    assert '"title":"Parser"' in journey.conversation.view.transcript_path.read_text().replace(
        " ", ""
    )


async def test_text_goes_through_display_hooks_and_stays_whole_for_the_model(
    begin: Begin, fresh_home: Path
) -> None:
    hide = (
        'jq \'{hookSpecificOutput: {hookEventName: "MessageDisplay", '
        'displayContent: (.delta | gsub("hunter2"; "***"))}}\''
    )
    configure(fresh_home, {"MessageDisplay": hide})
    said = Turn((Text("The password\nis hunter2."),))
    journey = await begin([said, DONE])

    events = await journey.send("what is it?")

    shown = "".join(event.text for event in events if event.type == "text_delta")
    assert shown == "The password\nis ***."
    await journey.send("and now?")
    assert "hunter2" in str(journey.last_messages())


async def test_a_replaced_output_is_what_the_model_reads(begin: Begin, fresh_home: Path) -> None:
    replaced = answer("PostToolUse", updatedToolOutput={"stdout": "clean", "stderr": ""})
    configure(fresh_home, {"PostToolUse": replaced})
    journey = await begin([bash("echo secret"), DONE])
    await journey.send("go")
    result = str(journey.last_messages()[-1])
    assert "clean" in result
    assert "secret" not in result


async def test_stop_hooks_count_as_the_engine_does(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    configure(fresh_home, {"Stop": f"{log_to(log)}; echo more >&2; exit 2"})
    env = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "10"}
    journey = await begin([replace(DONE, times=0)], env=env)
    events = await journey.send("go")
    assert [p["stop_hook_active"] for p in heard(log)] == [False, *[True] * 10]
    notices = [line for e in events if e.type == "hook_finished" for line in e.notices]
    assert "(continuation 1 of at most 10): more" in notices[0]
    assert "made the agent continue 10 times in a row" in notices[-1]
    await journey.send("again")
    assert [p["stop_hook_active"] for p in heard(log)[11:13]] == [False, True]


async def test_a_background_hook_wakes_an_idle_agent(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    wait = f"while [ ! -e '{go}' ]; do sleep 0.01; done; echo 'The build broke.' >&2; exit 2"
    settings = fresh_home / ".agent" / "settings.json"
    settings.parent.mkdir(parents=True)
    handler = {"type": "command", "command": wait, "asyncRewake": True}
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [handler]}]}}))
    journey = await begin([replace(DONE, times=0)])
    woken = asyncio.Event()
    journey.conversation.hook_signals.listen_for_wake(woken.set)
    await journey.send("go")
    before = journey.conversation.hook_signals.is_woken
    go.touch()
    await woken.wait()
    assert (before, journey.conversation.hook_signals.is_woken) == (False, True)
    events = [event async for event in journey.conversation.run(None)]
    assert terminal(events).reason == "completed"
    assert "The build broke." in str(journey.last_messages()[-1])
    nothing = [event async for event in journey.conversation.run(None)]
    assert [event.type for event in nothing] == ["terminal"]


async def test_an_added_directory_is_reported_with_the_next_turn(
    begin: Begin, fresh_home: Path
) -> None:
    configure(fresh_home, {"DirectoryAdded": 'echo \'{"systemMessage": "It is a Go module."}\''})
    journey = await begin([DONE])
    await journey.conversation.hooks.directory_added("/x", "slash_command")
    await journey.conversation.hooks.firing.aclose(wait_s=60)
    await journey.send("go")
    assert "It is a Go module." in str(journey.last_messages())


async def test_hooks_of_a_plugin_guard_and_outlive_a_reload(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "a plugin"
    (plugin / "hooks").mkdir(parents=True)
    (plugin / "guard.sh").write_text("echo no from the plugin >&2; exit 2\n")
    command = {"type": "command", "command": 'bash "${CLAUDE_PLUGIN_ROOT}/guard.sh"'}
    section = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [command]}]}}
    (plugin / "hooks" / "hooks.json").write_text(json.dumps(section))
    (plugin / "skills" / "greet").mkdir(parents=True)
    (plugin / ".mcp.json").write_text("{}")
    (plugin / "settings.json").write_text("{}")
    journey = await begin([bash("ls"), DONE, bash("ls"), DONE], plugin_dirs=(plugin,))
    (notice,) = [each for each in journey.assembled.notices if "plugin-dir" in each]
    assert notice.endswith("Left out: settings.")
    await journey.send("go")
    assert "no from the plugin" in str(journey.last_messages())
    configure(fresh_home, {})
    await journey.assembled.commands.context.reload_settings()
    events = await journey.send("go")
    assert [e.outcome for e in events if e.type == "tool_result"] == ["denied"]


async def test_a_plugin_that_is_not_there_is_bad_usage(begin: Begin, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder not found"):
        await begin([], plugin_dirs=(tmp_path / "nowhere",))


async def test_a_directory_that_is_no_plugin_is_named(begin: Begin, tmp_path: Path) -> None:
    journey = await begin([], plugin_dirs=(tmp_path,))
    (notice,) = [each for each in journey.assembled.notices if "plugin-dir" in each]
    assert notice.endswith("contains no part of a plugin.")


async def test_a_hook_refuses_another_model_or_is_informed(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    refuse = "jq -e '.to_model | test(\"opus\")' >/dev/null || exit 0; echo too dear >&2; exit 2"
    configure(
        fresh_home,
        {"PreModelSwitch": refuse, "PostModelSwitch": f"{log_to(log)}; echo 'You are fast now.'"},
    )
    journey = await begin([DONE], model="sonnet")
    before = journey.conversation.status.model
    with pytest.raises(SwitchRefused, match="too dear"):
        await journey.conversation.controls.set_model("opus")
    assert journey.conversation.status.model == before
    await journey.conversation.controls.set_model("haiku")
    (payload,) = heard(log)
    assert (payload["from_model"], payload["to_model"], payload["requested_model"]) == (
        before,
        "claude-haiku-5-5",
        "haiku",
    )
    await journey.send("go")
    assert "You are fast now." in str(journey.last_messages())


async def test_a_hook_that_could_not_work_is_reported_at_the_start(
    begin: Begin, fresh_home: Path
) -> None:
    configure(fresh_home, {"PreToolUse": "no-such-guard --strict", "Stop": "true"})
    journey = await begin([DONE])
    events = await journey.conversation.start()
    await journey.conversation.aclose()
    events += journey.conversation.hooks.notices()
    said = [event.text for event in events if event.type == "notice"]
    assert len(said) == 1
    assert "PreToolUse hook 'no-such-guard --strict' (user" in said[0]
    assert said[0].endswith("is not on the PATH of hooks")


@pytest.mark.parametrize("is_in_words", [True, False])
async def test_a_missing_program_is_one_line_of_the_session(
    begin: Begin, fresh_home: Path, is_in_words: bool
) -> None:
    words = {} if is_in_words else {"args": ["x"]}
    handler = {"type": "command", "command": "no-such-uv" + " run x" * is_in_words, **words}
    names = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop")
    hooks = {name: [{"hooks": [handler]}] for name in names}
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    call = Turn((ToolCall("Bash", {"command": "true"}),))
    journey = await begin([call, DONE, call, DONE], allow=("Bash",))
    events = await journey.conversation.start()
    for _ in range(2):
        events += await journey.send("go")
    await journey.conversation.aclose()
    events += journey.conversation.hooks.notices()
    said = [event.text for event in events if event.type == "notice"]
    said += [line for event in events if event.type == "hook_finished" for line in event.notices]
    assert said == ["no-such-uv is missing: 5 hooks"]


@pytest.mark.parametrize("is_in_words", [True, False])
@pytest.mark.parametrize("first", ["SessionStart", "UserPromptSubmit"])
async def test_a_script_that_is_not_there_is_reported_once(
    begin: Begin, fresh_home: Path, is_in_words: bool, first: str
) -> None:
    words = {} if is_in_words else {"args": ["x"]}
    handler = {"type": "command", "command": "/there/is/none.sh" + " x" * is_in_words, **words}
    hooks = {name: [{"hooks": [handler]}] for name in (first, "Stop")}
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    journey = await begin([DONE, DONE])
    events = await journey.conversation.start()
    async with asyncio.timeout(60):  # the look at the hooks runs beside the start
        while not any(event.type == "notice" for event in events):
            await asyncio.sleep(0.01)
            events += journey.conversation.hooks.notices()
    for _ in range(2):
        events += await journey.send("go")
    await journey.conversation.aclose()
    events += journey.conversation.hooks.notices()
    said = [event.text for event in events if event.type == "notice"]
    said += [line for event in events if event.type == "hook_finished" for line in event.notices]
    starts = [line for line in said if f"{first} hook" in line or line.startswith("2 hooks")]
    assert len(starts) == 1, said
    assert len(said) == (2 if first == "SessionStart" else 1), said


async def test_hooks_receive_absolute_paths_the_exit_code_and_where_the_shell_is(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    events = ("PreToolUse", "PostToolUseFailure", "PostToolBatch")
    configure(fresh_home, dict.fromkeys(events, log_to(log)))
    calls = (
        ToolCall("Bash", {"command": "mkdir sub && cd sub"}),
        ToolCall("Read", {"file_path": "a.txt"}),
        ToolCall("Bash", {"command": "echo out; exit 3"}),
    )
    journey = await begin([*(Turn((call,)) for call in calls), DONE], allow=("Bash",))
    await journey.send("go")
    project = str(journey.project)
    told = [(p["hook_event_name"], p.get("tool_name"), p["cwd"]) for p in heard(log)]
    assert told == [
        ("PreToolUse", "Bash", project),
        ("PostToolBatch", None, f"{project}/sub"),
        ("PreToolUse", "Read", f"{project}/sub"),
        ("PostToolUseFailure", "Read", f"{project}/sub"),
        ("PostToolBatch", None, f"{project}/sub"),
        ("PreToolUse", "Bash", f"{project}/sub"),
        ("PostToolUseFailure", "Bash", f"{project}/sub"),
        ("PostToolBatch", None, f"{project}/sub"),
    ]
    (batched,) = heard(log)[4]["tool_calls"]
    assert batched["tool_input"]["file_path"] == f"{project}/sub/a.txt"
    assert heard(log)[6]["error"] == "Exit code 3\nout"


async def test_hooks_guard_and_are_informed_of_sub_agents_as_of_the_main_agent(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    not_again = "jq -e .stop_hook_active >/dev/null && exit 0; echo 'Look again.' >&2; exit 2"
    hooks = {
        "PreToolUse": f"tee -a '{log}' | jq -e '.agent_id' >/dev/null && echo no >&2 && exit 2",
        "SubagentStart": answer("SubagentStart", additionalContext="You are watched."),
        "SubagentStop": f"tee -a '{log}' | {{ {not_again}; }}",
    }
    configure(fresh_home, hooks)
    task = ToolCall("Agent", {"description": "d", "prompt": "p", "subagent_type": "Explore"})
    turns = [
        by_agent(Turn((ToolCall("Glob", {"pattern": "*"}),))),
        by_agent(Turn((Text("Half."),))),
        by_agent(Turn((Text("All of it."),))),
        Turn((task,)),
        DONE,
    ]
    journey = await begin(turns)
    events = await journey.send("look into it")
    told = [str(r.body["messages"]) for r in journey.server.requests]
    assert "You are watched." in told[1]
    assert "no" in str(journey.server.requests[2].body["messages"][-1])
    assert "Look again." in told[3]
    assert "All of it." in told[-1]
    lines = log.read_text().replace("}{", "}\n{").splitlines()
    stops = [json.loads(line) for line in lines]
    assert {p["agent_type"] for p in stops if "agent_id" in p} == {"explore"}
    (first, _) = (p for p in stops if p["hook_event_name"] == "SubagentStop")
    transcript = Path(first["agent_transcript_path"])
    assert transcript.name == f"{first['agent_id']}.jsonl"
    assert "All of it." in transcript.read_text()
    assert terminal(events).reason == "completed"


def by_agent(turn: Turn) -> Turn:
    return replace(turn, when=When(system="another agent"))


async def test_hooks_read_the_transcript_as_they_are_used_to(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    last = (
        'grep \'"role":"assistant"\' | tail -1 | '
        'jq -r \'select(.type == "assistant") | .message.content[] | '
        'select(.type == "text") | .text\''
    )
    asked = "jq -r 'select(.type == \"user\" and (.isMeta | not)) | .message.content[0].text'"
    read = f"t=$(jq -r .transcript_path); < $t {last} > '{said}'; < $t {asked} >> '{said}'"
    configure(fresh_home, {"Stop": read})
    journey = await begin([DONE])
    await journey.send("go")
    assert said.read_text().splitlines() == ["Done.", "go"]


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
async def test_a_hook_that_hangs_before_the_prompt_is_ended_by_an_interruption(
    begin: Begin, fresh_home: Path, tmp_path: Path, event: str
) -> None:
    there = tmp_path / "there"
    configure(fresh_home, {event: f"touch '{there}'; sleep 600"})
    journey = await begin([replace(DONE, times=0)])
    sending = asyncio.ensure_future(journey.send("go"))
    await appeared(there)
    assert journey.conversation.controls.interrupt()
    events = await sending
    assert terminal(events).reason == "aborted_tools"
    assert journey.server.requests == []
    notices = [line for e in events if e.type == "hook_finished" for line in e.notices]
    assert any("interrupted before it ended" in line for line in notices)
    configure(fresh_home, {})
    await journey.assembled.commands.context.reload_settings()
    assert terminal(await journey.send("go")).reason == "completed"


async def test_a_hook_that_hangs_before_a_compaction_is_ended_by_an_interruption(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    configure(fresh_home, {"PreCompact": f"touch '{there}'; sleep 600"})
    journey = await begin([replace(DONE, times=0)])
    await journey.send("go")

    async def compact() -> list[str]:
        return [event.type async for event in journey.conversation.controls.compact()]

    compacting = asyncio.ensure_future(compact())
    await appeared(there)
    journey.conversation.controls.interrupt()
    await compacting
    assert not journey.conversation.view.is_running


async def test_a_link_that_a_hook_makes_is_seen_before_the_call_runs(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    configure(
        fresh_home,
        {"PreToolUse": f"ln -s '{outside}' place"},
        permissions={"allow": ["Bash(touch *)"]},
    )
    journey = await begin([bash("touch place/x"), DONE], has_person=False)

    events = await journey.send("go")

    assert [result.outcome for result in results(events)] == ["denied"]
    assert list(outside.iterdir()) == []
