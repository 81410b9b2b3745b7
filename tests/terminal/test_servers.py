"""Servers in the real terminal: what they ask their user, and the panel that shows them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from benchmarks.program import Program
from tests.terminal.conftest import Screen, ThreadedServer, shows

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]
SERVER = str(Path(__file__).parents[1] / "agent" / "mcp" / "plain_server.py")
QUESTIONS = ("ask for a form", "ask for a visit", "ask the model")
ASKED = Scenario(
    turns=(
        *(Turn((ToolCall("mcp__plain__echo", {"text": text}),)) for text in QUESTIONS[:2]),
        Turn((ToolCall("mcp__plain__echo", {"text": QUESTIONS[2]}),)),
        Turn((Text("Because of the light."),)),
        Turn((Text("All is answered."),), times=0),
    )
)


def see(program: Program, text: str) -> None:
    assert program.wait_until(shows(text), timeout_s=60.0), program.emulator.text()


def press(program: Program, keys: bytes, text: str) -> None:
    """Press keys once the program listens, and wait for what they lead to."""
    program.listen(0.4)
    program.type(keys)
    see(program, text)


def open_panel(program: Program) -> None:
    """Open `/mcp`, and wait until the server is connected."""
    see(program, "What should I do?")
    program.type(b"/mcp")
    press(program, b"\r", "MCP servers")
    see(program, "✔ plain")
    see(program, "2 tools")


@pytest.fixture(name="settings", autouse=True)
def settings_with_a_server(fresh_home: Path) -> None:
    server = {"command": sys.executable, "args": ["-I", "-S", SERVER]}
    file = fresh_home / ".agent" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = {"mcpServers": {"plain": server}, "permissions": {"allow": ["mcp__plain"]}}
    file.write_text(json.dumps(text))


def test_a_server_asks_its_user_and_the_model(screen: Screen, serve: Serve) -> None:
    server = serve(ASKED)
    program = screen(server=server)
    open_panel(program)
    program.type(b"\x1b")
    assert program.wait_until(lambda e: "✔ plain" not in e.text()), program.emulator.text()
    program.type(b"ask away")
    see(program, "ask away")
    press(program, b"\r", "MCP server plain asks")
    see(program, "Which color?")
    press(program, b"1", "1. red")
    press(program, b"2", "wants you to open an address")
    see(program, "https://example.org/register?for=you")
    press(program, b"2", "wants to ask the model")
    see(program, "Why so blue?")
    press(program, b"1", "All is answered.")
    told = json.dumps(server.server.requests[-1].body["messages"])
    assert r"\"content\": {\"color\": \"blue\"}" in told.replace(r"\\", "\\")
    assert "Because of the light." in told


def test_the_panel_follows_a_server(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(Scenario(turns=(Turn((Text("Hello."),), times=0),))))
    open_panel(program)
    press(program, b"\r", "Turn off in this project")
    press(program, b"\r", "mcp__plain__write")
    press(program, b"\x1b", "Reconnect")
    program.type(b"\x1b[B\x1b[B")
    press(program, b"\r", "off: turned off here")
    press(program, b"\r", "Show 2 tools")


def test_what_servers_offer_is_completed_below_the_prompt(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(Scenario(turns=(Turn((Text("Hello."),), times=0),))))
    open_panel(program)
    program.type(b"\x1b")
    assert program.wait_until(lambda e: "✔ plain" not in e.text()), program.emulator.text()
    program.type(b"/mcp__plain__do si")
    see(program, "sigh")
    see(program, '"sit down"')
    program.type(b"n")
    assert program.wait_until(lambda e: "sigh" not in e.text()), program.emulator.text()
    see(program, "❯ sing")
    program.type(b"\t@plain")
    see(program, "/mcp__plain__do sing @plain")
    see(program, "@plain:note:///1")
