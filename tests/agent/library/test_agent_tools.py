"""Agents as tools with parameters of their own, and the tools of MCP servers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from agent import (
    Agent,
    MCPServerStdio,
    MCPServerStreamableHttp,
    RunConfig,
    Runner,
    UserError,
    program_gate,
)
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.agent.library.conftest import Serve

DONE = Turn((Text("Done."),), times=0)
CACHE = Path(sys.prefix) / "mcp-servers"

SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("numbers")

@server.tool()
def double(number: int) -> str:
    "Twice a number."
    if number > 100:
        raise ValueError("too large")
    return str(number * 2)

server.run()
"""


class Translation(BaseModel):
    """A text to translate."""

    text: str = Field(description="What to translate.")
    language: str = Field(description="A language.")


def last_user_text(request: RecordedRequest) -> str:
    return str(request.body["messages"][-1]["content"][0]["text"])


async def test_an_agent_as_a_tool_takes_arguments_of_a_type(serve: Serve) -> None:
    call = ToolCall("translate", {"text": "Hallo", "language": "French"})
    server = await serve(Turn((call,)), Turn((Text("Bonjour"),)), DONE)
    tool = Agent("Translator").as_tool("translate", "Translates.", parameters=Translation)
    assert tool.params_json_schema["required"] == ["text", "language"]
    result = await Runner.run(Agent("Caller", tools=[tool]), "go")
    assert result.final_output == "Done."
    given = last_user_text(server.requests[1])
    assert '"language": "French"' in given
    assert "- text: What to translate." in given
    assert "Bonjour" in str(server.requests[2].body["messages"][-1])


async def test_the_caller_builds_the_input(serve: Serve) -> None:
    @dataclass
    class Place:
        city: str

    server = await serve(Turn((ToolCall("weather", {"city": "Bonn"}),)), DONE)
    tool = Agent("Weather").as_tool(
        "weather",
        "Knows the weather.",
        parameters=Place,
        include_input_schema=True,
        input_builder=lambda given: f"{given['params']['city']} {bool(given['json_schema'])}",
    )
    await Runner.run(Agent("Caller", tools=[tool]), "go")
    assert last_user_text(server.requests[1]) == "Bonn True"


async def test_arguments_that_do_not_fit_start_no_agent(serve: Serve) -> None:
    server = await serve(Turn((ToolCall("translate", {"text": 3}),)), DONE)
    tool = Agent("Translator").as_tool("translate", "Translates.", parameters=Translation)
    await Runner.run(Agent("Caller", tools=[tool]), "go")
    assert len(server.requests) == 2
    with pytest.raises(TypeError, match="dataclass or Pydantic model"):
        Agent("X").as_tool("x", "y", parameters=int)


@pytest.fixture(name="numbers")
def server_of_the_sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MCPServerStdio:
    """A server made with the SDK of the protocol, however long its start takes."""
    monkeypatch.setenv("MCP_TIMEOUT", "600000")
    program = tmp_path / "number_server.py"
    program.write_text(SERVER)
    return MCPServerStdio({"command": sys.executable, "args": [str(program)]}, name="numbers")


async def test_tools_of_an_mcp_server_are_called(serve: Serve, numbers: MCPServerStdio) -> None:
    calls = (ToolCall("double", {"number": 21}), ToolCall("double", {"number": 101}))
    server = await serve(Turn(calls), DONE)
    async with numbers:
        await Runner.run(Agent("A", mcp_servers=[numbers]), "go")
    tool = server.requests[0].body["tools"][0]
    assert (tool["name"], tool["description"]) == ("double", "Twice a number.")
    results = server.requests[1].body["messages"][-1]["content"]
    assert results[0]["content"] == "42"
    assert "Error executing tool double" in results[1]["content"]


async def test_rules_name_them_as_the_programs_own(serve: Serve, numbers: MCPServerStdio) -> None:
    server = await serve(Turn((ToolCall("double", {"number": 21}),)), DONE)
    config = RunConfig(permissions=program_gate(deny=["mcp__numbers__double"]))
    async with numbers:
        await Runner.run(Agent("A", mcp_servers=[numbers]), "go", run_config=config)
    [result] = server.requests[1].body["messages"][-1]["content"]
    assert str(result["content"]).startswith("Permission denied")


async def test_a_server_that_cannot_be_reached_is_named(serve: Serve, tmp_path: Path) -> None:
    await serve()
    with pytest.raises(UserError, match="'missing' cannot be reached"):
        async with MCPServerStdio({"command": str(tmp_path / "missing")}):
            pass
    with pytest.raises(UserError, match="not connected"):
        await MCPServerStreamableHttp({"url": "http://127.0.0.1:9/mcp"}).list_tools()


async def test_a_server_of_others_works(serve: Serve, tmp_path: Path) -> None:
    if not (CACHE / "python" / "mcp_server_time").exists():
        pytest.skip("mcp-server-time is not installed; `make conformance` installs it")
    call = ToolCall("get_current_time", {"timezone": "Europe/Berlin"})
    server = await serve(Turn((call,)), DONE)
    environment = {"PYTHONPATH": str(CACHE / "python")}
    arguments = ["-m", "mcp_server_time", "--local-timezone", "UTC"]
    async with MCPServerStdio(
        {"command": sys.executable, "args": arguments, "env": environment}, name="time"
    ) as time:
        await Runner.run(Agent("Clock", mcp_servers=[time]), "What time is it?")
    assert "Europe/Berlin" in str(server.requests[1].body["messages"][-1])
