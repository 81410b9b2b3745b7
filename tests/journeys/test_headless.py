"""`agent-tui -p` as a process: formats, exit statuses, standard input, signals, bad input."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.faults import Position, Stall, Status
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import HELLO, Headless
from tests.journeys.program import appeared, environment, run, start

NO_SECRETS = {"type": "command", "command": "echo 'No secrets, please.' >&2; exit 2"}


async def test_text_prints_the_answer_alone(hello: Headless) -> None:
    status, out, err = await hello.run("-p", "hi")
    assert (status, out, err) == (0, "Hello there.\n", "")


async def test_json_is_one_result_object(hello: Headless) -> None:
    status, out, _ = await hello.run("-p", "hi", "--output-format", "json")
    result = json.loads(out)
    assert status == 0
    assert result["type"] == "result"
    assert result["subtype"] == "success"
    assert result["result"] == "Hello there."
    assert result["num_turns"] == 1
    assert result["total_cost_usd"] > 0
    assert result["permission_denials"] == []
    assert result["duration_ms"] >= result["duration_api_ms"] >= 0
    assert (result["stop_reason"], result["terminal_reason"]) == ("end_turn", "completed")
    usage = result["modelUsage"]["claude-opus-5-5"]
    assert usage["outputTokens"] > 0
    assert usage["contextWindow"] >= 200_000
    assert usage["contextWindow"] > usage["maxOutputTokens"] >= 8_000


async def test_an_answer_that_was_cut_and_continued_is_printed_whole(
    project: Path, fresh_home: Path
) -> None:
    turns = (
        Turn((Text("The first half, "),), stop_reason="max_tokens"),
        Turn((Text("and the second."),)),
    )
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run("-p", "hi", cwd=project, env=env)
    assert (status, out) == (0, "The first half, and the second.\n")


async def test_stream_json_begins_with_init_and_ends_with_result(
    project: Path, fresh_home: Path
) -> None:
    (project / "a.txt").write_text("content\n")
    turns = (Turn((ToolCall("Read", {"file_path": str(project / "a.txt")}),)), HELLO)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run(
            "-p", "hi", "--output-format", "stream-json", cwd=project, env=env
        )
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    kinds = [line["type"] for line in lines]
    assert kinds == ["system", "assistant", "user", "assistant", "result"]
    assert lines[0]["subtype"] == "init"
    assert "content" in str(lines[2]["message"]["content"][0]["content"])
    assert lines[2]["tool_use_result"]["file"]["content"] == "content"
    assert lines[-1]["api_error_status"] is None
    assert len({line["session_id"] for line in lines}) == 1


async def test_partial_messages_are_stream_events(hello: Headless) -> None:
    arguments = ["-p", "hi", "--output-format", "stream-json", "--include-partial-messages"]
    _, out, _ = await hello.run(*arguments)
    events = [
        line["event"]
        for line in map(json.loads, out.splitlines())
        if line["type"] == "stream_event"
    ]
    answers = [line for line in map(json.loads, out.splitlines()) if line["type"] == "assistant"]
    assert events[0]["message"]["id"] == answers[0]["message"]["id"]
    deltas = [e["delta"]["text"] for e in events if e["type"] == "content_block_delta"]
    assert "".join(deltas) == "Hello there."
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")


async def test_stream_json_input_runs_each_line_as_a_prompt(hello: Headless) -> None:
    lines = "".join(
        json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"
        for text in ("one", "two")
    )
    arguments = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
    status, out, err = await hello.run(*arguments, stdin=lines)
    results = [line for line in map(json.loads, out.splitlines()) if line["type"] == "result"]
    assert (status, len(results), err) == (0, 2, "")
    # The usage is that of one prompt, the cost that of the session.
    assert len({result["usage"]["output_tokens"] for result in results}) == 1
    assert results[0]["total_cost_usd"] < results[1]["total_cost_usd"]


async def test_the_origin_of_a_prompt_is_in_its_result(hello: Headless) -> None:
    message = {"type": "user", "message": {"role": "user", "content": "hi"}}
    lines = "".join(
        json.dumps(one) + "\n" for one in (message | {"origin": {"kind": "human"}}, message)
    )
    arguments = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
    _, out, _ = await hello.run(*arguments, stdin=lines)
    results = [line for line in map(json.loads, out.splitlines()) if line["type"] == "result"]
    assert [result.get("origin") for result in results] == [{"kind": "human"}, None]


async def test_an_unusable_line_after_a_prompt_names_the_session(hello: Headless) -> None:
    prompt = json.dumps({"type": "user", "message": {"role": "user", "content": "hi"}})
    arguments = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
    status, out, _ = await hello.run(*arguments, stdin=f"{prompt}\n{{bad\n")
    first, *_, answered, failed = map(json.loads, out.splitlines())
    assert (status, answered["subtype"]) == (2, "success")
    assert failed["subtype"] == "error_during_execution"
    assert failed["session_id"] == first["session_id"]


async def test_init_names_the_key_and_the_plugins(hello: Headless) -> None:
    manifest = hello.project / "my-plugin" / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "mine"}')
    root = manifest.parents[1]
    arguments = ["-p", "hi", "--output-format", "stream-json", "--plugin-dir", str(root)]
    _, out, _ = await hello.run(*arguments)
    first = json.loads(out.splitlines()[0])
    assert first["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert first["plugins"] == [{"name": "mine", "path": str(root)}]
    token = {"ANTHROPIC_API_KEY": None, "ANTHROPIC_AUTH_TOKEN": "t"}
    _, out, _ = await hello.run("-p", "hi", "--output-format", "stream-json", **token)
    assert json.loads(out.splitlines()[0])["apiKeySource"] == "none"


async def test_prompts_come_back_when_their_turn_comes(hello: Headless) -> None:
    lines = "".join(
        json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"
        for text in ("one", "/cost")
    )
    arguments = ["--input-format", "stream-json", "--output-format", "stream-json"]
    _, out, _ = await hello.run(*arguments, "--replay-user-messages", stdin=lines)
    told = [json.loads(line) for line in out.splitlines()]
    kinds = [line["type"] for line in told]
    assert kinds == ["system", "user", "assistant", "result", "user", "result"]
    assert [line.get("isReplay") for line in told if line["type"] == "user"] == [True, True]
    assert told[1]["message"] == {"role": "user", "content": [{"type": "text", "text": "one"}]}


async def test_a_session_that_is_not_kept_leaves_nothing(
    hello: Headless, fresh_home: Path, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    status, out, err = await hello.run(
        "-p", "hi", "--no-session-persistence", TMPDIR=str(tmp_path / "tmp")
    )
    assert (status, out.strip(), err) == (0, "Hello there.", "")
    assert list((fresh_home / ".agent").rglob("*.jsonl")) == []
    assert list((tmp_path / "tmp").iterdir()) == []
    status, _, err = await hello.run("-p", "more", "-c", TMPDIR=str(tmp_path / "tmp"))
    assert (status, "No earlier session" in err) == (0, True)


async def test_c_without_an_earlier_session_starts_one(hello: Headless) -> None:
    status, out, err = await hello.run("-p", "one", "-c")
    assert (status, out) == (0, "Hello there.\n")
    assert "No earlier session" in err
    status, _, err = await hello.run("-p", "two", "-c")
    assert (status, err) == (0, "")
    assert "one" in str(hello.server.requests[-1].body["messages"])


@pytest.mark.parametrize("number", [0, 2])
async def test_the_environment_limits_the_retries(
    project: Path, fresh_home: Path, number: int
) -> None:
    overloaded = FaultPlan(Status(529, headers={"retry-after": "0"}), times=9)
    async with ScriptedServer(Scenario(turns=(HELLO,), faults=(overloaded,))) as server:
        env = environment(fresh_home, server.base_url, CLAUDE_CODE_MAX_RETRIES=str(number))
        status, _, _ = await run("-p", "hi", cwd=project, env=env)
    assert (status, len(server.requests)) == (1, number + 1)


async def test_input_lines_of_unknown_types_are_passed_over(hello: Headless) -> None:
    prompt = json.dumps({"type": "user", "message": {"role": "user", "content": "hi"}})
    lines = f'{{"type": "new_kind", "x": 1}}\n{prompt}\n{{"type": "new_kind"}}\n'
    arguments = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
    status, out, err = await hello.run(*arguments, stdin=lines)
    assert (status, json.loads(out.splitlines()[-1])["result"]) == (0, "Hello there.")
    assert err.count("'new_kind'") == 1


async def test_standard_input_is_the_prompt_or_its_context(hello: Headless) -> None:
    await hello.run("-p", stdin="from a pipe")
    assert "from a pipe" in str(hello.server.requests[-1].body["messages"])
    await hello.run("-p", "explain", stdin="some log")
    text = str(hello.server.requests[-1].body["messages"])
    assert "explain" in text
    assert "some log" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
async def test_an_answer_that_cannot_be_written_is_kept_and_reported_where(
    hello: Headless, project: Path, fresh_home: Path
) -> None:
    with open("/dev/full", "w") as full:  # noqa: ASYNC230 - a device opens at once
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tui.cli", "-p", "hi",
            cwd=project,
            env=environment(fresh_home, hello.server.base_url),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=full,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, err = await process.communicate()
    (session,) = fresh_home.glob(".agent/sessions/*/*.jsonl")
    assert process.returncode == 1
    assert err.decode().endswith(f"agent-tui sessions show {session.stem[:8]}\n")
    assert "Hello there." in session.read_text()


async def test_no_one_to_ask_is_a_denial_with_status_3(project: Path, fresh_home: Path) -> None:
    turns = (Turn((ToolCall("Bash", {"command": "touch made"}),)), HELLO)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run("-p", "make it", "--output-format", "json", cwd=project, env=env)
    denials: list[dict[str, Any]] = json.loads(out)["permission_denials"]
    assert status == 3
    assert [denial["tool_input"]["command"] for denial in denials] == ["touch made"]
    assert not (project / "made").exists()


async def test_a_denial_says_how_to_allow_the_call(project: Path, fresh_home: Path) -> None:
    turns = (Turn((ToolCall("Bash", {"command": "touch made"}),)), HELLO)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        _, _, err = await run("-p", "make it", cwd=project, env=env)
    assert "denied: Bash: no rule covers this" in err
    assert "--allow RULE" in err


@pytest.mark.parametrize("form", ["text", "json"])
async def test_a_prompt_that_a_hook_blocks_is_an_error(
    hello: Headless, fresh_home: Path, form: str
) -> None:
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [NO_SECRETS]}]}}
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
    status, out, err = await hello.run("-p", "hi", "--output-format", form)
    assert (status, hello.server.requests) == (1, [])
    assert "No secrets, please." in err
    if form == "text":
        assert out == ""
        return
    result = json.loads(out)
    assert (result["is_error"], result["subtype"]) == (True, "error_during_execution")
    assert result["terminal_reason"] == "stop_hook_prevented"
    assert "No secrets, please." in result["errors"][0]


async def test_lines_about_hooks(hello: Headless, fresh_home: Path) -> None:
    say = {"type": "command", "command": "echo out; echo err >&2; exit 1"}
    (fresh_home / ".agent").mkdir()
    settings = {
        "hooks": {"SessionStart": [{"hooks": [say]}], "Stop": [{"hooks": [say, NO_SECRETS]}]}
    }
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
    arguments = ["-p", "hi", "--output-format", "stream-json", "--max-turns", "1"]
    _, out, _ = await hello.run(*arguments)
    assert "hook_" not in out
    _, out, _ = await hello.run(*arguments, "--include-hook-events")
    lines = [line for line in map(json.loads, out.splitlines()) if "hook_id" in line]
    assert [line["subtype"] for line in lines[:2]] == ["hook_started", "hook_response"]
    assert len({line["hook_id"] for line in lines[:2]}) == 1
    names = [line["hook_name"] for line in lines if line["subtype"] == "hook_response"]
    assert names[:3] == ["SessionStart:startup", "Stop", "Stop"]
    assert (lines[1]["stdout"], lines[1]["stderr"]) == ("out\n", "err\n")
    assert (lines[1]["exit_code"], lines[1]["outcome"]) == (1, "error")
    assert (lines[5]["exit_code"], lines[5]["outcome"]) == (2, "error")


async def test_a_signal_ends_hooks_of_the_sessions_end(hello: Headless, fresh_home: Path) -> None:
    wait = {"type": "command", "command": 'touch "$HOME/ending"; exec sleep 600', "timeout": 60}
    (fresh_home / ".agent").mkdir()
    settings = {"hooks": {"SessionEnd": [{"hooks": [wait]}]}}
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
    env = environment(fresh_home, hello.server.base_url)
    process = await start("-p", "hi", cwd=hello.project, env=env)
    await appeared(fresh_home / "ending")
    process.send_signal(signal.SIGTERM)
    out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"Hello there.\n")
    assert b"interrupted before it ended" in err


async def test_an_allow_flag_lets_the_call_run(project: Path, fresh_home: Path) -> None:
    turns = (Turn((ToolCall("Bash", {"command": "touch made"}),)), HELLO)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        flags = ["--allow", "Bash(touch *),Edit", "--permission-mode", "default"]
        status, _, err = await run("-p", "make it", *flags, cwd=project, env=env)
    assert (status, err) == (0, "")
    assert (project / "made").exists()


@pytest.mark.parametrize(
    ("turn", "flags", "expected"),
    [
        (Turn((ToolCall("Glob", {"pattern": "*"}),), times=0), ["--max-turns", "2"], 4),
        (Turn((Text("no"),), stop_reason="refusal"), [], 5),
        (Turn((Text("x"),), fault=Status(401)), [], 1),
        (Turn((ToolCall("Glob", {"pattern": "*"}),), times=0), ["--max-budget-usd", "0.0001"], 4),
        (Turn((Text("no"),)), ["--max-budget-usd", "0.0001"], 4),
    ],
    ids=["max-turns", "refusal", "wrong-key", "budget", "budget-and-answer"],
)
async def test_exit_statuses(
    project: Path, fresh_home: Path, turn: Turn, flags: list[str], expected: int
) -> None:
    async with ScriptedServer(Scenario(turns=(turn,))) as server:
        env = environment(fresh_home, server.base_url)
        status, _, err = await run("-p", "go", *flags, cwd=project, env=env)
    assert status == expected, err
    assert err.strip()


async def test_an_answer_that_used_up_the_budget_is_an_error_of_its_own(hello: Headless) -> None:
    flags = ("--max-budget-usd", "0.0001")
    status, out, err = await hello.run("-p", "go", *flags)
    assert (status, out) == (4, "Hello there.\n")
    assert "stopped: The budget of $0.0001 is used up" in err
    _, out, _ = await hello.run("-p", "go", *flags, "--output-format", "json")
    result = json.loads(out)
    assert (result["subtype"], result["is_error"]) == ("error_max_budget_usd", True)
    assert result["errors"][0].startswith("The budget of $0.0001 is used up")


@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
async def test_signals_end_cleanly_with_a_session_to_resume(
    project: Path, fresh_home: Path, number: signal.Signals, expected: int
) -> None:
    scenario = Scenario(
        turns=(Turn((Text("one two three four"),)), HELLO),
        faults=(FaultPlan(Stall(Position("text"), hold="silent"), request=1),),
    )
    async with ScriptedServer(scenario) as server:
        env = environment(fresh_home, server.base_url)
        process = await start("-p", "count", cwd=project, env=env)
        await server.wait_for_hold("silent")
        process.send_signal(number)
        _, err = await process.communicate()
        assert process.returncode == expected
        assert "agent-tui -r" in err.decode()

        status, out, err_text = await run("-p", "-c", "go on", cwd=project, env=env)
        assert (status, out) == (0, "Hello there.\n"), err_text
        texts = str(server.requests[-1].body["messages"])
        assert "count" in texts
        assert "interrupted" in texts.lower()


async def test_a_run_under_nohup_outlives_its_terminal(project: Path, fresh_home: Path) -> None:
    scenario = Scenario(
        turns=(HELLO,), faults=(FaultPlan(Stall(Position("text"), hold="silent"), request=1),)
    )
    async with ScriptedServer(scenario) as server:
        process = await asyncio.create_subprocess_exec(
            "nohup", sys.executable, "-m", "tui.cli", "-p", "go",
            cwd=project, env=environment(fresh_home, server.base_url),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        await server.wait_for_hold("silent")
        process.send_signal(signal.SIGHUP)
        server.release("silent")
        out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"Hello there.\n"), err


async def test_a_killed_run_resumes_and_does_not_run_its_tool_again(
    project: Path, fresh_home: Path
) -> None:
    command = "echo run >> runs.txt; touch started; sleep 600"
    turns = (Turn((Text("Starting."), ToolCall("Bash", {"command": command}))), HELLO)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        process = await start("-p", "begin", "--allow", "Bash,Edit", cwd=project, env=env)
        async with asyncio.timeout(30):
            await appeared(project / "started")
        process.kill()
        await process.communicate()

        status, out, err = await run("-p", "-c", "what happened?", cwd=project, env=env)

        assert (status, out) == (0, "Hello there.\n"), err
        assert "outcome unknown" in err
        assert (project / "runs.txt").read_text() == "run\n"
        assert "Outcome unknown" in str(server.requests[-1].body["messages"])


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["-p"], 2, "No prompt"),
        (["-p", "x", "--effort", "huge"], 2, "effort"),
        (["-p", "x", "-r", "zzz"], 1, "not a session id"),
        (["-p", "x", "--settings", "missing.json"], 2, "missing.json"),
        (["hello"], 2, "not a terminal"),
        (["--nonsense"], 2, "nonsense"),
    ],
    ids=["no-prompt", "effort", "bad-id", "settings", "no-tty", "flag"],
)
async def test_bad_usage_is_one_clear_line(
    hello: Headless,
    arguments: list[str],
    status: int,
    says: str,
) -> None:
    got, out, err = await hello.run(*arguments, stdin="")
    assert got == status, err
    assert says in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    "wrong",
    [
        ["--output-format", "stream-json", "--task-budget", "5"],
        ["--output-format=json", "--effort", "huge"],
        ["--nonsense", "--output-format", "json"],
    ],
    ids=lambda wrong: wrong[0],
)
async def test_a_reader_of_json_gets_a_result_for_wrong_options(
    hello: Headless, wrong: list[str]
) -> None:
    status, out, err = await hello.run("-p", "x", *wrong)
    result = json.loads(out)
    assert (status, result["type"], result["is_error"]) == (2, "result", True)
    assert result["errors"][0] in err


async def test_a_refused_key_of_a_helper_names_the_helper(project: Path, fresh_home: Path) -> None:
    no = Scenario(turns=(HELLO,), faults=(FaultPlan(Status(401, message="no"), times=0),))
    async with ScriptedServer(no) as server:
        env = environment(fresh_home, server.base_url)
        del env["ANTHROPIC_API_KEY"]
        settings = '{"apiKeyHelper": "echo old"}'
        status, out, _ = await run("-p", "hi", "--settings", settings, cwd=project, env=env)
    assert status == 1
    assert "Check the command of the apiKeyHelper setting." in out
    assert "ANTHROPIC_API_KEY" not in out


async def test_no_model_says_how_to_connect_one(project: Path, fresh_home: Path) -> None:
    status, _, err = await run("-p", "hi", cwd=project, env=environment(fresh_home))
    assert status == 1
    assert "ANTHROPIC_API_KEY" in err
    assert "--demo" in err


async def test_without_a_place_to_keep_it_the_conversation_runs_and_reports_it(
    hello: Headless,
) -> None:
    status, out, err = await hello.run("-p", "hi", HOME="/proc/nobody")
    assert (status, out) == (0, "Hello there.\n")
    assert "cannot be stored with the others" in err
    assert "AGENT_TUI_HOME" in err


async def test_version_needs_neither_screen_nor_sdk(project: Path, fresh_home: Path) -> None:
    status, out, _ = await run("--version", cwd=project, env=environment(fresh_home))
    assert status == 0
    assert out.endswith("(agent-tui)\n")


async def test_the_demo_prints_its_conversation_without_a_terminal(
    project: Path, fresh_home: Path
) -> None:
    status, out, err = await run("--demo", cwd=project, env=environment(fresh_home))
    assert status == 0, err
    assert "scripted" in out
    assert "* Edit basket.py" in out
    assert "outside the working directories" in out
    assert not (fresh_home / ".agent" / "sessions").exists()


async def test_the_first_line_names_commands_and_skills(hello: Headless, fresh_home: Path) -> None:
    for name in ("commands/fix.md", "skills/deploy/SKILL.md"):
        path = fresh_home / ".agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Do it.")
    _, out, _ = await hello.run("-p", "hi", "--output-format", "stream-json")
    init = json.loads(out.splitlines()[0])
    assert {"fix", "deploy", "cost"} <= set(init["slash_commands"])
    assert init["skills"] == ["deploy"]
    assert "theme" not in init["slash_commands"]


async def test_a_command_is_answered_without_the_model(hello: Headless, project: Path) -> None:
    status, out, err = await hello.run("-p", "/status")
    assert (status, err) == (0, "")
    assert f"folder {project}" in out
    status, out, _ = await hello.run("-p", "/cost", "--output-format", "json")
    result = json.loads(out)
    assert (status, result["num_turns"], result["subtype"]) == (0, 0, "success")
    assert result["result"].startswith("$0.0000")
    assert hello.server.requests == []


async def test_a_command_that_is_not_here_is_no_prompt(hello: Headless) -> None:
    for text, said in (
        ("/theme dark", "only available on the screen"),
        ("/models", "/model chooses it"),
    ):
        status, out, err = await hello.run("-p", text)
        assert (status, out) == (1, "")
        assert said in err
    assert hello.server.requests == []


async def test_messages_of_a_sub_agent_name_the_call_they_belong_to(
    project: Path, fresh_home: Path
) -> None:
    outside = When(has_tool="Agent")
    task = {"description": "look", "prompt": "Look.", "subagent_type": "general-purpose"}
    turns = (
        Turn((ToolCall("Agent", task, id="toolu_outer"),), when=outside),
        Turn((ToolCall("Glob", {"pattern": "*"}),), when=When(system="for another agent")),
        Turn((Text("Nothing."),), when=When(system="for another agent")),
        Turn((Text("Done."),), when=outside, times=0),
    )
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        arguments = ["-p", "go", "--output-format", "stream-json", "--allow", "Agent"]
        _, out, _ = await run(*arguments, cwd=project, env=env)
    lines = [json.loads(line) for line in out.splitlines()]
    parents = [
        line["parent_tool_use_id"] for line in lines if line["type"] in ("assistant", "user")
    ]
    assert parents[0] is None
    assert parents[-1] is None
    assert set(parents) == {None, "toolu_outer"}
    assert lines[-1]["num_turns"] == 2


async def test_a_request_that_fails_is_an_api_error_in_every_form(
    project: Path, fresh_home: Path
) -> None:
    fault = FaultPlan(Status(400, message="no such thing"), times=0)
    async with ScriptedServer(Scenario(turns=(HELLO,), faults=(fault,))) as server:
        env = environment(fresh_home, server.base_url)
        status, text, err = await run("-p", "hi", cwd=project, env=env)
        assert (status, text.startswith("API Error: 400 ")) == (1, True)
        assert "no such thing" in text
        assert "no such thing" in err
        form = ("--output-format", "stream-json")
        status, out, _ = await run("-p", "hi", *form, cwd=project, env=env)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["type"] for line in lines] == ["system", "assistant", "result"]
    assert lines[1]["message"]["model"] == "<synthetic>"
    result = lines[2]
    assert (status, result["subtype"], result["is_error"]) == (1, "success", True)
    assert (result["api_error_status"], result["result"]) == (400, text.strip())
    assert lines[1]["message"]["content"][0]["text"] == result["result"]
    assert result["terminal_reason"] == "api_error"


async def test_what_stops_a_run_is_in_errors_and_a_refusal_is_a_sentence(
    project: Path, fresh_home: Path
) -> None:
    again = Turn((Text("again"), ToolCall("Read", {"file_path": "x"})), times=0)
    refused = Turn((), stop_reason="refusal", times=0)
    form = ("--output-format", "json")
    async with ScriptedServer(Scenario(turns=(again,))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run("-p", "go", "--max-turns", "1", *form, cwd=project, env=env)
    result = json.loads(out)
    assert (status, result["subtype"], "result" in result) == (4, "error_max_turns", False)
    assert result["errors"] == ["Reached maximum number of turns (1)"]
    assert result["terminal_reason"] == "max_turns"
    async with ScriptedServer(Scenario(turns=(refused,))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run("-p", "go", *form, cwd=project, env=env)
    result = json.loads(out)
    assert (status, result["subtype"], result["is_error"]) == (5, "success", True)
    assert result["terminal_reason"] == "completed"
    assert result["result"] == "The model declined to answer."


async def test_a_run_that_cannot_begin_is_a_result_too(project: Path, fresh_home: Path) -> None:
    flags = ("-r", "11111111-1111-4111-8111-111111111111", "--output-format", "stream-json")
    status, out, err = await run(
        "-p", "hi", *flags, cwd=project, env=environment(fresh_home, "http://127.0.0.1:9")
    )
    result = json.loads(out)
    assert (status, result["is_error"], result["session_id"]) == (1, True, flags[1])
    assert result["errors"][0] in err


async def test_compact_and_context_answer(project: Path, fresh_home: Path) -> None:
    summary = Turn((Text("They said hello."),), times=0, when=When(prompt="summar"))
    lines = [
        {"type": "user", "message": {"role": "user", "content": text}}
        for text in (*["hi " * 9_000] * 4, "/context", "/compact the greeting", "/context")
    ]
    form = ("--input-format", "stream-json", "--output-format", "stream-json")
    async with ScriptedServer(Scenario(turns=(summary, HELLO))) as server:
        env = environment(fresh_home, server.base_url)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        status, out, err = await run("-p", *form, cwd=project, env=env, stdin=text)
    assert status == 0, err
    written = [json.loads(line) for line in out.splitlines()]
    results = [line["result"] for line in written if line["type"] == "result"]
    assert results[5].startswith("Compacted: ")
    assert [line for line in written if line.get("subtype") == "compact_boundary"]
    for shown in (results[4], results[6]):
        assert "System prompt" in shown
        assert "of 200,000 tokens" in shown


async def test_compact_without_a_conversation_is_reported(project: Path, fresh_home: Path) -> None:
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run("-p", "/compact", cwd=project, env=env)
    assert (status, out) == (0, "There is nothing to compact yet.\n"), err


async def test_compact_without_a_summary_is_an_error(project: Path, fresh_home: Path) -> None:
    long = Turn((Text("word " * 9_000),), times=1)
    calls = Turn((ToolCall("Glob", {"pattern": "*"}),), times=0)
    async with ScriptedServer(Scenario(turns=(long, calls))) as server:
        env = environment(fresh_home, server.base_url)
        assert (await run("-p", "hi " * 9_000, cwd=project, env=env))[0] == 0
        form = ("--output-format", "json")
        status, out, err = await run("-p", "-c", "/compact", *form, cwd=project, env=env)
    result = json.loads(out)
    assert (status, result["is_error"]) == (1, True), err
    assert "The model wrote no summary. It stays as it is." in out
