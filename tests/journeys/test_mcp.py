"""MCP servers in a run: configured, approved, called, changed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import HELLO
from tests.journeys.program import environment, run

SERVER = Path(__file__).parents[1] / "agent" / "mcp" / "plain_server.py"
ECHO = Turn((ToolCall("mcp__plain__echo", {"text": "over the wire"}),))
DONE = Turn((Text("Done."),))


def entry(*arguments: str) -> dict[str, object]:
    return {"command": sys.executable, "args": [str(SERVER), *arguments]}


def servers(**entries: object) -> str:
    return json.dumps({"mcpServers": entries})


async def test_a_server_of_the_command_line_is_used(project: Path, fresh_home: Path) -> None:
    arguments = [
        "-p", "echo", "--mcp-config", servers(plain=entry()), "--strict-mcp-config",
        "--allow", "mcp__plain__echo", "--output-format", "stream-json",
    ]  # fmt: skip
    async with ScriptedServer(Scenario(turns=(ECHO, DONE))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run(*arguments, cwd=project, env=env)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (status, lines[-1]["result"]) == (0, "Done."), err
    assert lines[0]["mcp_servers"] == [{"name": "plain", "status": "connected"}]
    assert "mcp__plain__echo" in lines[0]["tools"]
    assert "over the wire" in json.dumps(lines[2]["message"])
    names = [tool["name"] for tool in server.requests[0].body["tools"]]
    assert names[-2:] == ["mcp__plain__echo", "mcp__plain__write"]
    told = json.dumps(server.requests[0].body["messages"])
    assert "plain: connected, 2 tools" in told


async def test_bad_entries_and_failing_servers_are_reported(
    project: Path, fresh_home: Path
) -> None:
    config = servers(
        plain=entry(), gone={"command": "/there/is/none"}, odd={"url": "https://example.org"}
    )
    arguments = ["-p", "hi", "--mcp-config", config, "--output-format", "stream-json"]
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        _, out, err = await run(*arguments, cwd=project, env=env)
    init = json.loads(out.splitlines()[0])
    assert init["mcp_servers"] == [
        {"name": "plain", "status": "connected"}, {"name": "gone", "status": "failed"}
    ]  # fmt: skip
    assert [(e["name"], e["type"]) for e in init["mcp_server_errors"]] == [
        ("odd", "url_missing_type")
    ]
    assert 'add "type": "http"' in err
    assert err.count("MCP server gone is not connected: /there/is/none: not found") == 1
    assert "gone: not connected" in json.dumps(server.requests[0].body["messages"])


async def test_a_server_of_a_project_does_not_start_unasked(
    project: Path, fresh_home: Path
) -> None:
    made = project / "made"
    (project / ".mcp.json").write_text(servers(evil={"command": "touch", "args": [str(made)]}))
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        status, out, _ = await run("-p", "hi", cwd=project, env=env)
        assert (status, out, made.exists()) == (0, "Hello there.\n", False)


async def test_with_trust_for_one_run_it_starts(project: Path, fresh_home: Path) -> None:
    (project / ".mcp.json").write_text(servers(plain=entry()))
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        arguments = ["-p", "hi", "--trust", "--output-format", "stream-json"]
        _, out, err = await run(*arguments, cwd=project, env=env)
    init = json.loads(out.splitlines()[0])
    assert init["mcp_servers"] == [{"name": "plain", "status": "connected"}], err


async def test_a_required_server_that_is_missing_ends_the_run(
    project: Path, fresh_home: Path
) -> None:
    config = servers(gone={"command": "/there/is/none", "required": True})
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        status, _, err = await run("-p", "hi", "--mcp-config", config, cwd=project, env=env)
        assert (status, server.requests) == (1, [])
    assert "gone is required" in err


async def test_above_a_share_of_the_window_tools_are_found_by_search(
    project: Path, fresh_home: Path
) -> None:
    search = Turn((ToolCall("ToolSearch", {"query": "select:mcp__plain__echo"}),))
    arguments = ["-p", "echo", "--mcp-config", servers(plain=entry()), "--allow", "mcp__plain"]
    async with ScriptedServer(Scenario(turns=(search, ECHO, DONE))) as server:
        env = environment(fresh_home, server.base_url, ENABLE_TOOL_SEARCH="true")
        status, out, err = await run(*arguments, cwd=project, env=env)
    assert (status, out) == (0, "Done.\n"), err
    offered = [{t["name"] for t in request.body["tools"]} for request in server.requests]
    assert [("mcp__plain__echo" in names) for names in offered] == [False, True, True]
    assert "load with ToolSearch: mcp__plain__echo" in json.dumps(server.requests[0].body)
    assert "over the wire" in json.dumps(server.requests[2].body)


async def test_a_hook_reads_the_blocks_of_a_result(
    project: Path, fresh_home: Path, tmp_path: Path
) -> None:
    copy = {"type": "command", "command": f"cat > {tmp_path}/payload.json"}
    hooks = {"hooks": {"PostToolUse": [{"matcher": "mcp__.*", "hooks": [copy]}]}}
    (fresh_home / ".agent").mkdir(exist_ok=True)
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps(hooks))
    arguments = ["-p", "echo", "--mcp-config", servers(plain=entry()), "--allow", "mcp__plain"]
    async with ScriptedServer(Scenario(turns=(ECHO, DONE))) as server:
        await run(*arguments, cwd=project, env=environment(fresh_home, server.base_url))
    payload = json.loads((tmp_path / "payload.json").read_text())
    assert [block["type"] for block in payload["tool_response"]] == ["text"]


async def test_without_servers_nothing_of_mcp_is_loaded(project: Path, fresh_home: Path) -> None:
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url, PYTHONVERBOSE="1")
        status, _, err = await run("-p", "hi", cwd=project, env=env)
    assert status == 0
    loaded = {line.split("'")[1] for line in err.splitlines() if line.startswith("import '")}
    assert {name for name in loaded if name.startswith(("mcp", "agent.mcp"))} == set()


async def test_the_model_reads_no_resource_through_a_skill_that_it_may_not_read(
    project: Path, fresh_home: Path
) -> None:
    path = fresh_home / ".agent" / "skills" / "look" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ndescription: Look\n---\nLook at $ARGUMENTS\n")
    load = Turn((ToolCall("Skill", {"skill": "look", "args": "@plain:note:///1"}),))
    flags = ("--mcp-config", servers(plain=entry()), "--strict-mcp-config", "--allow", "Skill")
    async with ScriptedServer(Scenario(turns=(load, DONE, load, DONE))) as server:
        env = environment(fresh_home, server.base_url)
        await run("-p", "look", *flags, cwd=project, env=env)
        refused = json.dumps(server.requests[1].body["messages"])
        await run("-p", "look", *flags, "--allow", "ReadMcpResourceTool", cwd=project, env=env)
        allowed = json.dumps(server.requests[3].body["messages"])
    assert "Look at @plain:note:///1" in refused
    assert "the content" not in refused
    assert "the content" in allowed


async def test_a_mentioned_resource_is_subject_to_deny_rules(
    project: Path, fresh_home: Path
) -> None:
    flags = ("--mcp-config", servers(plain=entry()), "--deny", "ReadMcpResourceTool")
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        env = environment(fresh_home, server.base_url)
        await run("-p", "see @plain:note:///1", *flags, cwd=project, env=env)
    assert "the content" not in json.dumps(server.requests[0].body["messages"])


async def test_prompts_are_commands_and_resources_are_mentioned(
    project: Path, fresh_home: Path
) -> None:
    flags = ("--mcp-config", servers(plain=entry()))
    async with ScriptedServer(Scenario(turns=(HELLO, HELLO))) as server:
        env = environment(fresh_home, server.base_url)
        status, _, err = await run("-p", "/mcp__plain__do it", *flags, cwd=project, env=env)
        assert status == 0, err
        await run("-p", "see @plain:note:///1 please", *flags, cwd=project, env=env)
    greeted, mentioned = (json.dumps(one.body["messages"]) for one in server.requests)
    assert "The user runs /mcp__plain__do" in greeted
    assert "The user attached plain:note:///1 with @" in mentioned
