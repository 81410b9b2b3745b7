"""A server may do anything: the connection lives, memory and time are bounded, nothing is shown
raw and nothing is granted."""

from __future__ import annotations

import asyncio
import sys
import tracemalloc
from pathlib import Path

import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from agent.mcp.mcp_errors import CallTimedOut, McpError, ServerUnavailable
from agent.mcp.protocol.message_guard import DEFINITION, MessageGuard
from agent.mcp.protocol.offer_reading import read_tools
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest, McpPorts
from agent.mcp.server_state import ServerState
from agent.mcp.transport.message_channel import MAX_MESSAGE_BYTES
from agent.mcp.transport.stdio_channel import StdioChannel
from permissions.base.process.process_tree import MARK
from permissions.base.process.spawn import Launch
from tests.agent.mcp.running import connected, of, plain, running, until
from tests.agent.mcp.test_killed_program import marked


async def test_a_server_that_behaves_offers_everything(tmp_path: Path) -> None:
    async with running(tmp_path, plain()) as servers:
        view = of(servers)
        assert view.state is ServerState.CONNECTED
        assert [tool.full_name for tool in view.tools] == ["mcp__plain__echo", "mcp__plain__write"]
        assert [one.name for one in view.offer.prompts] == ["do"]
        assert [one.uri for one in view.offer.resources] == ["note:///1", "note:///{id}"]
        assert view.server_name == "plain"
        assert len(view.offer.instructions) == 2_048
        assert "\x1b" not in view.offer.instructions
        assert "\u202e" not in view.offer.instructions
        read = await servers.read_resource("plain", "note:///1")
        assert [part.text for part in read] == ["the content"]
        (message,) = await servers.get_prompt("plain", "do", {"what": "sing"})
        assert message.block["text"] == "Please sing."


async def test_malformed_tools_are_dropped_one_by_one(tmp_path: Path) -> None:
    async with running(tmp_path, plain("malformed")) as servers:
        view = of(servers)
        assert [tool.full_name for tool in view.tools] == [
            "mcp__plain__bad_text",
            "mcp__plain__echo",
            "mcp__plain__a_b_c_",
        ]
        assert view.tools[1].description == "good text"
        assert len(view.offer.problems) == 9
        assert not any("\u202e" in problem for problem in view.offer.problems)


async def test_pages_without_end_end(tmp_path: Path) -> None:
    async with running(tmp_path, plain("endless")) as servers:
        view = of(servers)
        assert len(view.tools) == 100
        assert "more than 100 pages" in " ".join(view.offer.problems)


async def test_a_message_that_is_too_long_is_never_read(tmp_path: Path) -> None:
    async with running(tmp_path, plain("huge")) as servers:
        assert [tool.name for tool in of(servers).tools] == ["echo", "write"]


async def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    script = "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)\nprint('\\n{}')"
    tracemalloc.start()
    try:
        channel = await StdioChannel.start(Launch((sys.executable, "-c", script), {}, tmp_path))
        assert await channel.receive() == b"{}"
        _, peak = tracemalloc.get_traced_memory()
        await channel.aclose()
    finally:
        tracemalloc.stop()
    assert peak < 2 * MAX_MESSAGE_BYTES


@pytest.mark.parametrize("mode", ["noisy", "flood", "wrong", "late"])
async def test_noise_changes_nothing(tmp_path: Path, mode: str) -> None:
    lines: list[str] = []
    ports = McpPorts(log=lambda _server, _level, text: lines.append(text))
    async with running(tmp_path, plain(mode), ports=ports) as servers:
        assert [tool.name for tool in of(servers).tools] == ["echo", "write"]
        result = await servers.call_tool("plain", "echo", {"text": "still here"})
        assert result.content[0]["text"] == "still here"
    assert len(lines) <= 1_000


async def test_an_answer_after_a_cancel_is_ignored(tmp_path: Path) -> None:
    async with running(tmp_path, plain("late")) as servers:
        call = asyncio.ensure_future(servers.call_tool("plain", "echo", {"text": "hang"}))
        await asyncio.wait({call}, timeout=0.2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        result = await servers.call_tool("plain", "echo", {"text": "next"})
        assert result.content[0]["text"] == "next"
        assert of(servers).generation == 1


async def test_questions_beyond_a_few_are_declined_unseen(tmp_path: Path) -> None:
    asked: list[ElicitationRequest] = []
    never = asyncio.Event()

    async def elicit(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request)
        await never.wait()
        return ElicitationAnswer("cancel")

    async with running(tmp_path, plain("asks"), ports=McpPorts(elicit=elicit)) as servers:
        result = await servers.call_tool("plain", "echo", {"text": "hi"})
        assert result.content[0]["text"] == "hi"
        assert len(asked) == 5
        assert {request.server for request in asked} == {"plain"}


async def test_a_list_that_fails_is_no_failed_connection(tmp_path: Path) -> None:
    async with running(tmp_path, plain("unlistable")) as servers:
        view = of(servers)
        assert view.state is ServerState.CONNECTED
        assert view.offer.problems == ("its tools cannot be listed: no list today",)


async def test_a_program_that_exits_is_reported_with_its_last_words(tmp_path: Path) -> None:
    async with running(tmp_path, plain("exits")) as servers:
        view = of(servers)
        assert view.state is ServerState.FAILED
        assert view.reason == "the program ended with exit code 3"
        assert view.detail == "no configuration found"
        with pytest.raises(ServerUnavailable):
            await servers.call_tool("plain", "echo", {})


async def test_a_silent_server_fails_in_time(tmp_path: Path) -> None:
    limits = {"MCP_TIMEOUT": "300"}
    async with running(tmp_path, plain("silent"), settings_env=limits) as servers:
        view = await until(servers, "plain", lambda v: v.state is ServerState.FAILED)
        assert view.reason == "it did not answer in time"


async def test_a_call_without_an_answer_ends_and_the_connection_stays(tmp_path: Path) -> None:
    async with running(tmp_path, plain(timeout_s=0.3)) as servers:
        with pytest.raises(CallTimedOut):
            await servers.call_tool("plain", "echo", {"text": "hang"})
        assert of(servers).generation == 1


async def test_a_server_that_dies_in_a_call_is_started_again(tmp_path: Path) -> None:
    async with running(tmp_path, plain()) as servers:
        with pytest.raises(McpError):
            await servers.call_tool("plain", "echo", {"text": "die"})
        await until(servers, "plain", lambda v: connected(v) and v.generation == 2)
        result = await servers.call_tool("plain", "echo", {"text": "again"})
        assert result.content[0]["text"] == "again"


async def test_changed_tools_are_shown_to_who_withholds_them(tmp_path: Path) -> None:
    first = plain("changes")
    seen: dict[str, str] = {}

    def withhold(_server: object, tools: object, _instructions: str) -> set[str]:
        changed = set()
        for tool in tools:  # type: ignore[attr-defined]  # a sequence of tools
            if seen.setdefault(tool.name, tool.description) != tool.description:
                changed.add(tool.name)
        return changed

    async with running(tmp_path, first, ports=McpPorts(withhold=withhold)) as servers:
        assert len(of(servers).tools) == 2
        await servers.call_tool("plain", "echo", {"text": "change"})
        view = await until(servers, "plain", lambda v: bool(v.offer.withheld))
        assert [tool.name for tool in view.offer.withheld] == ["echo"]
        assert view.tools == ()


async def test_nothing_of_a_server_is_left_running(tmp_path: Path) -> None:
    async with running(tmp_path, plain("forks")) as servers:
        result = await servers.call_tool("plain", "echo", {"text": "env"})
        mark = f'"{MARK}": "'
        text = str(result.content[0]["text"])
        value = text[text.index(mark) + len(mark) :].partition('"')[0]
        assert marked(value)
    assert marked(value) == []


async def test_a_server_gets_little_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    async with running(tmp_path, plain(env={"GIVEN": "yes"})) as servers:
        result = await servers.call_tool("plain", "echo", {"text": "env"})
    assert '"GIVEN": "yes"' in str(result.content[0]["text"])
    assert "SOME_TOKEN" not in str(result.content[0]["text"])


async def test_progress_arrives(tmp_path: Path) -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    async with running(tmp_path, plain()) as servers:
        await servers.call_tool(
            "plain", "echo", {"text": "progress"}, on_progress=lambda *one: seen.append(one)
        )
    assert seen == [(1, 3, "on"), (2, 3, "on"), (3, 3, "on")]


def test_what_is_pinned_of_a_tool_is_what_is_used_of_it() -> None:
    guard = MessageGuard(lambda _level, _text: None)
    guard.sending(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list")))
    schema = {"type": "object"}
    entries: list[dict[str, object]] = [
        {"name": "pay", "description": text, "inputSchema": schema, "_meta": {DEFINITION: {}}}
        for text in ("used", "accepted")
    ]
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": entries})
    guard.filter_message(SessionMessage(message))
    wire_tools = [types.Tool.model_validate(one, by_name=False) for one in message.result["tools"]]
    problems: list[str] = []
    (tool,) = read_tools("bank", wire_tools, problems)
    assert tool.description == tool.definition["description"] == "used"
    assert tool.meta == {}
    assert problems == ["pay: another tool has this name already"]
