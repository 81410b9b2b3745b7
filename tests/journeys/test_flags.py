"""Every flag of the command line reaches what it is for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.faults import Status
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import HELLO, Headless
from tests.journeys.program import environment, run

ALL_SAID = ("said by the user", "said by the project", "said in private")
BUSY = Status(529, headers={"retry-after": "0"})


async def body(hello: Headless, *flags: str) -> tuple[dict[str, Any], str]:
    status, _, err = await hello.run("-p", "hi", *flags)
    assert status == 0, err
    return hello.server.requests[-1].body, err


async def test_model_effort_and_prompts(hello: Headless) -> None:
    sent, _ = await body(hello, "--model", "sonnet", "--effort", "low",
        "--system-prompt", "Be a pirate.", "--append-system-prompt", "Arr.",
    )  # fmt: skip
    assert sent["model"] == "claude-sonnet-5-5"
    assert sent["output_config"]["effort"] == "low"
    texts = [block["text"] for block in sent["system"]]
    assert texts[0] == "Be a pirate."
    assert texts[-1] == "Arr."


async def test_only_the_named_sources_count(
    hello: Headless, project: Path, fresh_home: Path
) -> None:
    (fresh_home / ".agent" / "commands").mkdir(parents=True)
    (fresh_home / ".agent" / "settings.json").write_text('{"effortLevel": "low"}')
    (fresh_home / ".agent" / "AGENTS.md").write_text("said by the user")
    (fresh_home / ".agent" / "commands" / "own.md").write_text("Own words.")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"effortLevel": "medium"}')
    (project / ".claude" / "settings.local.json").write_text('{"effortLevel": "high"}')
    (project / "CLAUDE.md").write_text("said by the project")
    (project / "CLAUDE.local.md").write_text("said in private")
    for flag, effort, said in (
        ("user", "low", {"said by the user"}),
        ("project, local", "high", {"said by the project", "said in private"}),
        ("project", "medium", {"said by the project"}),
        ("user,project,local", "high",
         {"said by the user", "said by the project", "said in private"}),
    ):  # fmt: skip
        prompt = "/own" if "user" in flag else "hi"
        status, _, err = await hello.run("-p", prompt, "--setting-sources", flag)
        assert status == 0, err
        body = hello.server.requests[-1].body
        told = str(body)
        assert body["output_config"]["effort"] == effort
        assert {words for words in ALL_SAID if words in told} == said
        assert ("Own words." in told) == ("user" in flag)


async def test_the_model_gets_the_named_tools_alone(hello: Headless) -> None:
    for flags, names in (
        (["--tools", "Read,Task"], ["Read", "Agent"]),
        (["--tools", "Grep", "Glob"], ["Glob", "Grep"]),
        (["--tools", ""], []),
    ):
        sent, err = await body(hello, *flags)
        assert [tool["name"] for tool in sent.get("tools", [])] == names
        assert err == ""
    sent, err = await body(hello, "--tools", "default")
    assert len(sent["tools"]) > 8
    _, err = await body(hello, "--tools", "Read,WebSearch")
    assert "there is no tool WebSearch here" in err


async def test_thinking_is_chosen_for_one_run(hello: Headless, fresh_home: Path) -> None:
    (fresh_home / ".agent").mkdir(parents=True)
    (fresh_home / ".agent" / "settings.json").write_text('{"alwaysThinkingEnabled": false}')
    for flags, kind in (
        ([], "disabled"),
        (["--thinking", "adaptive"], "adaptive"),
        (["--thinking", "disabled"], "disabled"),
    ):
        sent, _ = await body(hello, "--model", "claude-sonnet-5", *flags)
        assert sent["thinking"]["type"] == kind


async def test_resume_by_id_and_fork(hello: Headless) -> None:
    _, out, _ = await hello.run("-p", "one", "--output-format", "json")
    first = json.loads(out)["session_id"]
    flags = ["-r", first[:8], "--output-format", "json"]
    _, out, _ = await hello.run("-p", "two", *flags)
    assert json.loads(out)["session_id"] == first
    _, out, _ = await hello.run("-p", "three", *flags, "--fork-session")
    assert json.loads(out)["session_id"] != first
    told = str(hello.server.requests[-1].body["messages"])
    assert all(text in told for text in ("one", "two", "three"))


async def test_add_dir_widens_the_scope(project: Path, fresh_home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    call = ToolCall("Write", {"file_path": str(other / "a.txt"), "content": "x\n"})
    for flags, made in (([], False), (["--add-dir", str(other)], True)):
        async with ScriptedServer(Scenario(turns=(Turn((call,)), HELLO))) as server:
            env = environment(fresh_home, server.base_url)
            mode = ["--permission-mode", "acceptEdits"]
            await run("-p", "write", *mode, *flags, cwd=project, env=env)
        assert (other / "a.txt").exists() is made


async def test_deny_and_ask_flags_beat_the_mode(project: Path, fresh_home: Path) -> None:
    call = ToolCall("Write", {"file_path": str(project / "a.txt"), "content": "x\n"})
    for flag in ("--deny", "--ask"):
        async with ScriptedServer(Scenario(turns=(Turn((call,)), HELLO))) as server:
            env = environment(fresh_home, server.base_url)
            flags = ["--permission-mode", "acceptEdits", flag, "Edit(a.txt)"]
            await run("-p", "write", *flags, cwd=project, env=env)
        assert not (project / "a.txt").exists()


async def test_a_tool_taken_away_leaves_files_to_commands(project: Path, fresh_home: Path) -> None:
    path = str(project / "a.txt")
    calls = (
        ToolCall("Read", {"file_path": path}),
        ToolCall("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}),
        ToolCall("Bash", {"command": "cat a.txt"}),
        ToolCall("Bash", {"command": "touch b.txt"}),
        ToolCall("Grep", {"pattern": "a", "path": path}),
    )
    for flag, allowed in (("--disallowedTools", ["Bash", "Bash", "Grep"]), ("--deny", [])):
        (project / "a.txt").write_text("a")
        scenario = Scenario(turns=(Turn(calls), Turn((Text("Done."),), times=0)))
        async with ScriptedServer(scenario) as server:
            _, out, err = await run(
                *("-p", "hi", flag, "Read,Write,Edit", "--allow", "Bash(cat *),Bash(touch *)"),
                *("--output-format", "json"),
                cwd=project,
                env=environment(fresh_home, server.base_url),
            )
        offered = {tool["name"] for tool in server.requests[0].body["tools"]}
        assert not offered & {"Read", "Edit", "Write"}
        denied = [one["tool_name"] for one in json.loads(out)["permission_denials"]]
        assert sorted(denied + allowed) == sorted(call.name for call in calls), err
        assert "[left out by" not in str(server.requests[1].body)


async def test_plan_mode_writes_nothing(project: Path, fresh_home: Path) -> None:
    call = ToolCall("Write", {"file_path": str(project / "a.txt"), "content": "x\n"})
    async with ScriptedServer(Scenario(turns=(Turn((call,)), HELLO))) as server:
        env = environment(fresh_home, server.base_url)
        flags = ["--permission-mode", "plan", "--allow", "Edit"]
        await run("-p", "write", *flags, cwd=project, env=env)
    assert not (project / "a.txt").exists()


async def test_settings_file_and_unknown_mode(hello: Headless, project: Path) -> None:
    extra = project / "extra.json"
    extra.write_text(json.dumps({"model": "claude-haiku-5-5"}))
    status, _, err = await hello.run("-p", "hi", "--settings", str(extra), ANTHROPIC_MODEL=None)
    assert (status, err) == (0, "")
    assert hello.server.requests[-1].body["model"] == "claude-haiku-5-5"
    # A plan that is misspelled must not become a run that changes things.
    status, _, err = await hello.run("-p", "hi", "--permission-mode", "paln")
    assert (status, len(hello.server.requests)) == (2, 1)
    assert "'plan'" in err


async def test_a_session_that_is_named_beforehand(hello: Headless) -> None:
    own = "0a1b2c3d-0000-4000-8000-00000000beef"
    first = ["-p", "hi", "--session-id", own, "--name", "The  plan"]
    assert (await hello.run(*first))[0] == 0
    status, _, err = await hello.run(*first)
    assert status == 1
    assert "agent-tui -r 0a1b2c3d" in err
    json_form = ["--output-format", "json"]
    _, out, _ = await hello.run("-p", "on", "-r", "the plan", *json_form)
    assert json.loads(out)["session_id"] == own
    other = own.replace("0a", "0b")
    copy = ["-c", "--fork-session", "--session-id", other, *json_form]
    _, out, _ = await hello.run("-p", "on", *copy)
    assert json.loads(out)["session_id"] == other
    status, out, err = await hello.run("-p", "on", "-r", "", *json_form)
    assert (status, json.loads(out)["is_error"]) == (1, True)
    assert "needs a session's id or name" in err
    status, _, err = await hello.run("-p", "on", "-r", "0")
    assert "is not a session id" in err
    for twin in ("11111111-2222-4000-8000-000000000001", "11111111-2222-4000-8000-000000000002"):
        await hello.run("-p", "hi", "--session-id", twin)
    status, _, err = await hello.run("-p", "on", "-r", "11111111")
    assert status == 1
    assert "Several sessions begin with 11111111" in err


async def test_another_model_takes_over_where_a_flag_asks_for_it(
    project: Path, fresh_home: Path
) -> None:
    def respond(request: RecordedRequest) -> Turn | None:
        is_first = request.body["model"] == "claude-opus-5-5"
        return Turn((Text("x"),), fault=BUSY) if is_first else HELLO

    async with ScriptedServer(Scenario(), respond=respond) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run("-p", "hi", "--fallback-model", "haiku", cwd=project, env=env)
    assert (status, out) == (0, "Hello there.\n")
    assert "switched from claude-opus-5-5 to claude-haiku-5-5" in err


@pytest.mark.parametrize(
    ("flags", "status", "made"),
    [
        (["--permission-mode", "bypassPermissions"], 0, True),
        (["--permission-mode", "bypassPermissions", "--allow-bypass"], 0, True),
        (["--dangerously-skip-permissions"], 0, True),
        (["--allow-dangerously-skip-permissions"], 3, False),
    ],
)
async def test_bypass_needs_its_flag(
    project: Path, fresh_home: Path, flags: list[str], status: int, made: bool
) -> None:
    call = ToolCall("Bash", {"command": "touch made"})
    async with ScriptedServer(Scenario(turns=(Turn((call,)), HELLO))) as server:
        env = environment(fresh_home, server.base_url, IS_SANDBOX="1")
        assert (await run("-p", "make", *flags, cwd=project, env=env))[0] == status
    assert (project / "made").exists() is made


@pytest.mark.skipif(os.getuid() != 0, reason="root alone is refused")
async def test_bypass_is_refused_to_root_outside_of_a_container(
    project: Path, fresh_home: Path
) -> None:
    flags = ("--permission-mode", "bypassPermissions", "--output-format", "json")
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run("-p", "make", *flags, cwd=project, env=env)
    assert status == 2
    assert "not available to root" in json.loads(out)["errors"][0]
    assert server.requests == []


async def test_flags_of_client_libraries_are_taken(project: Path, fresh_home: Path) -> None:
    log = project / "debug.log"
    flags = (
        "--allow-dangerously-skip-permissions --strict-mcp-config --no-chrome "
        f"--include-hook-events --max-thinking-tokens 2000 --debug-file={log} "
        "--thinking-display summarized --betas context-1m-2025-08-07 --debug-to-stderr"
    )
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run("-p", "hi", *flags.split(), cwd=project, env=env)
    assert (status, out) == (0, "Hello there.\n"), err
    assert "--betas has no effect" in err
    assert log.read_text()


@pytest.mark.usefixtures("full_sandbox")
async def test_an_untrusted_projects_allow_rules_wait_for_trust(
    project: Path, fresh_home: Path
) -> None:
    (project / ".agent").mkdir()
    rules = {"permissions": {"allow": ["Bash(touch *)", "Edit"]}}
    (project / ".agent" / "settings.json").write_text(json.dumps(rules))
    call = ToolCall("Bash", {"command": "touch made"})
    for flags, made in (([], False), (["--trust"], True)):
        async with ScriptedServer(Scenario(turns=(Turn((call,)), HELLO))) as server:
            env = environment(fresh_home, server.base_url)
            _, _, err = await run("-p", "make", *flags, cwd=project, env=env)
        assert (project / "made").exists() is made
        assert ("trust" in err) is not made


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["permissions", "explain", "Bash(git push)"], 3),
        (["permissions", "explain", "Write(/etc/passwd)"], 3),
        (["permissions", "explain", "Read(a.txt)"], 0),
        (["permissions", "lint"], 0),
        (["hooks", "list", "--json"], 0),
        (["sessions", "list", "--json"], 0),
        (["config", "--json"], 0),
        (["doctor", "--json"], 0),
        (["sessions", "show", "nonsense!"], 1),
        (["permissions", "nonsense"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
async def test_subcommands(hello: Headless, arguments: list[str], status: int) -> None:
    got, _, err = await hello.run(*arguments)
    assert got == status, err
    assert "Traceback" not in err


async def test_two_dashes_force_a_prompt(hello: Headless) -> None:
    status, out, _ = await hello.run("-p", "--", "doctor")
    assert (status, out) == (0, "Hello there.\n")
    assert "doctor" in str(hello.server.requests[-1].body["messages"])


@pytest.mark.parametrize(
    ("flags", "fired", "requests"),
    [
        (["--init-only"], ["Setup init", "SessionStart", "SessionEnd"], 0),
        (["-p", "hi", "--init"], ["Setup init", "SessionStart", "SessionEnd"], 1),
        (["-p", "hi", "--maintenance"], ["Setup maintenance", "SessionStart", "SessionEnd"], 1),
        (["-p", "hi"], ["SessionStart", "SessionEnd"], 1),
    ],
    ids=["init-only", "init", "maintenance", "neither"],
)
async def test_setup_hooks_run_when_asked_for(
    hello: Headless,
    project: Path,
    fresh_home: Path,
    flags: list[str],
    fired: list[str],
    requests: int,
) -> None:
    log = project / "log"
    names = "jq -r '[.hook_event_name, .trigger // empty] | join(\" \")'"
    hook = {"hooks": [{"type": "command", "command": f"{names} >> '{log}'; exit 7"}]}
    settings = fresh_home / ".agent" / "settings.json"
    settings.parent.mkdir()
    events = ("Setup", "SessionStart", "SessionEnd")
    settings.write_text(json.dumps({"hooks": {event: [hook] for event in events}}))

    status, _, err = await hello.run(*flags)

    assert status == 0, err
    assert log.read_text().splitlines() == fired
    assert len(hello.server.requests) == requests
    assert err.count("exit status 7") == len(fired)


async def test_setup_flags_belong_to_runs_without_a_screen(project: Path, fresh_home: Path) -> None:
    status, _, err = await run("--init", cwd=project, env=environment(fresh_home))
    assert status == 2
    assert "--init-only" in err


async def test_hooks_that_wait_for_trust_are_reported(project: Path, fresh_home: Path) -> None:
    settings = project / ".agent" / "settings.json"
    settings.parent.mkdir()
    hook = {"type": "command", "command": "exit 2"}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook, hook]}]}}))
    env = environment(fresh_home)
    _, out, _ = await run("hooks", "run", "Stop", cwd=project, env=env, stdin="{}")
    waiting = json.loads(out)
    assert waiting["outcome"] == "skipped"
    assert "2 hooks do nothing until this folder is trusted" in waiting["config_warnings"][0]
    _, out, _ = await run("hooks", "run", "Stop", "--trust", cwd=project, env=env, stdin="{}")
    trusted = json.loads(out)
    assert (trusted["decision"], trusted["config_warnings"]) == ("block", [])


async def test_a_budget_of_nothing_asks_for_nothing(hello: Headless) -> None:
    status, out, err = await hello.run("-p", "hi", "--max-budget-usd", "0")
    assert (status, out, hello.server.requests) == (4, "", [])
    assert "budget of $0.00" in err
