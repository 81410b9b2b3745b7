"""`agent-tui mcp`: servers are added, shown without their secrets, connected to and removed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.settings.trust import TrustStore
from tui.cli import main
from tui.command_line.subcommands.places import current_directories, settings_here

SERVER = str(Path(__file__).parents[3] / "agent" / "mcp" / "plain_server.py")
REMOTE = ("-t", "http", "--client-id", "me", "tracker", "https://t.example/mcp?key=abc")


@pytest.fixture(name="home", autouse=True)
def home_and_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "project/.git"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("ANTHROPIC_API_KEY", "AGENT_TUI_HOME", "MCP_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # A busy machine takes longer to start a server than a user waits for it.
    monkeypatch.setenv("MCP_TIMEOUT", "600000")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


def told(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["mcp", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out if status == 0 else captured.err


def told_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(told(capsys, arguments[0], "--json", *arguments[1:]))


def test_a_server_is_added_connected_to_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "once you trust" in told(capsys, "add", "first", "true")
    told(capsys, "remove", "first")
    settings = settings_here(current_directories())
    TrustStore(settings.agent_home / "trust.json").accept(settings.trust)
    added = told_json(capsys, "add", "plain", "-e", "TOKEN=s3cret", "--", sys.executable, SERVER)
    assert added == {
        "name": "plain",
        "scope": "local",
        "file": str(Path.cwd() / ".agent" / "settings.local.json"),
    }
    (listed,) = told_json(capsys, "list")
    assert (listed["state"], listed["scope"]) == ("connected", "local")
    assert listed["tools"] == ["mcp__plain__echo", "mcp__plain__write"]
    assert "s3cret" not in json.dumps(listed)
    assert "✔ Connected" in told(capsys, "list")
    assert "Configured" in told(capsys, "list", "--no-connect")
    assert "tool echo: Returns its text." in told(capsys, "debug", "plain")
    assert "Scope: local" in told(capsys, "get", "plain")
    assert told_json(capsys, "remove", "plain")["scope"] == "local"
    assert told_json(capsys, "list") == []


def test_a_server_of_the_project_waits_until_it_is_approved_here(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = tmp_path / "made"
    entry = {"command": "touch", "args": [str(made)]}
    Path(".mcp.json").write_text(json.dumps({"mcpServers": {"evil": entry}}))
    assert "Pending approval" in told(capsys, "list")
    assert "does not start" in told(capsys, "debug", "evil", status=1)
    told(capsys, "add-json", "-s", "project", "mine", json.dumps({"command": "true"}))
    told(capsys, "reset-project-choices")
    assert [one["standing"] for one in told_json(capsys, "list")] == ["needs_trust"] * 2
    assert not made.exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"mcpServers": {"a": {"command": "x"},}', ".mcp.json:1: not valid JSON"),
        ('{"servers": {}}', '"servers", as VS Code has it'),
        ('{"mcpServers": {\n"a": {"command": "x "}}}', ".mcp.json:2: mcpServers.a.command: begins"),
        ('{"mcpServers": {\n"a": {"command": 3}}}', ".mcp.json:2: mcpServers.a.command: expected"),
    ],
)
def test_what_is_wrong_in_a_file_is_reported(
    capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    Path(".mcp.json").write_text(text)
    assert main(["mcp", "list", "--no-connect"]) == 0
    printed = capsys.readouterr().err
    assert problem in printed
    assert printed.count("\n") == 1


def test_what_is_wrong_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert "only letters" in told(capsys, "add", "a b", "x", status=1)
    assert "JSON: " in told(capsys, "add-json", "plain", "{", status=2)
    assert "expected one of" in told(capsys, "add-json", "p", '{"type": "tcp"}', status=1)
    told(capsys, "add", "plain", "true")
    assert "already" in told(capsys, "add", "plain", "true", status=1)
    assert "Did you mean 'plain'?" in told(capsys, "get", "plian", status=1)
    assert "expected --env" in told(capsys, "add", "-e", "X", "other", "true", status=2)


def test_a_secret_is_stored_apart_and_never_shown(
    capsys: pytest.CaptureFixture[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "MCP_CLIENT_SECRET" in told(capsys, "add", "--client-secret", *REMOTE, status=2)
    assert "client ID" in told(capsys, "add", "--client-secret", "x", "true", status=2)
    monkeypatch.setenv("MCP_CLIENT_SECRET", "s3cret")
    told(capsys, "add", "--client-secret", *REMOTE)
    stored = home / ".agent" / "mcp" / "tokens.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert (
        json.loads(stored.read_text())["servers"]["https://t.example/mcp?key=abc"]["client"][
            "client_secret"
        ]
        == "s3cret"
    )
    shown = told(capsys, "get", "tracker") + Path(".agent/settings.local.json").read_text()
    assert "s3cret" not in shown
    assert "key=abc" not in told(capsys, "list", "--no-connect")


def test_a_secret_is_typed_unseen(home: Path) -> None:
    ours, theirs = os.openpty()
    program = [sys.executable, "-P", "-m", "tui.cli", "mcp", "add", "--client-secret", *REMOTE]
    env = {**os.environ, "PYTHONPATH": str(Path(SERVER).parents[3])}
    with subprocess.Popen(
        program, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
    ) as running:
        os.close(theirs)
        seen = b""
        while b"Client secret" not in seen:
            seen += os.read(ours, 1_000)
        os.write(ours, b"s3cret\n")
        while running.poll() is None or b"is added" not in seen:
            try:
                seen += os.read(ours, 1_000)
            except OSError:  # the end of a terminal
                break
    os.close(ours)
    assert running.returncode == 0, seen
    assert b"s3cret" not in seen
    assert "s3cret" in (home / ".agent" / "mcp" / "tokens.json").read_text()
