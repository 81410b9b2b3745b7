"""`agent-tui doctor`: what is wrong with each part, and how to mend it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.settings.load import CliSettings, load_settings
from tui.command_line.subcommands.doctor_command import command, report


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".agent" / "commands").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "AGENT_TUI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home / ".agent"


def found() -> dict[str, list[dict[str, str]]]:
    result = CliRunner().invoke(command, ["--json"], standalone_mode=False)
    by_name: dict[str, list[dict[str, str]]] = {}
    for check in json.loads(result.output):
        by_name.setdefault(check["name"], []).append(check)
    return by_name


def test_mistakes_in_the_users_own_files_are_named(checks: Path) -> None:
    (checks / "keybindings.json").write_text(
        '{"bindings": [\n{"context": "Chat", "bindings": {"ctrl+e": "chat:stahs"}}]}'
    )
    (checks / "commands" / "broken.md").write_text("---\ndescription: [\n---\nhi")
    (checks / "themes").mkdir()
    (checks / "themes" / "mine.toml").write_text('[roles]\naccnt = "#fff"\n')
    (checks / "settings.json").write_text('{"theme": "mine"}')
    said = found()
    assert "keybindings.json:2: 'chat:stahs' is not a valid action" in said["keys"][0]["text"]
    assert "broken.md" in said["command"][0]["text"]
    assert "'accnt'" in said["theme"][0]["text"]


def test_a_conversation_is_informed_of_the_settings_that_it_runs_with(checks: Path) -> None:
    project = Path.cwd()
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    trusted = load_settings(
        launch_dir=project, home=checks.parent, agent_home=checks, cli=CliSettings(trust=True)
    )
    assert "settings: 0 rules" in report()
    assert "settings: 1 rule," in report(trusted)


def test_everything_fine_is_short(checks: Path) -> None:
    (checks / "keybindings.json").write_text('{"bindings": []}')
    (checks / "commands" / "fix.md").write_text("Fix it.")
    said = found()
    assert [said[name][0]["state"] for name in ("keys", "commands", "theme")] == ["ok"] * 3


def test_a_home_that_is_a_file_takes_nothing(checks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found()["home"][0]["state"] == "ok"
    monkeypatch.setenv("HOME", str(checks / "settings.json"))
    assert found()["home"][0]["state"] == "ok"  # it can be made
    (checks / "settings.json").write_text("{}")
    assert found()["home"][0]["state"] == "problem"


def test_a_theme_that_is_not_there_is_reported(checks: Path) -> None:
    (checks / "settings.json").write_text('{"theme": "nope"}')
    assert "There is no theme 'nope'" in found()["theme"][0]["text"]


def test_without_a_model_it_explains_what_to_do(checks: Path) -> None:
    (model,) = found()["model"]
    assert model["state"] == "problem"
    assert "ANTHROPIC_API_KEY" in model["text"]


def test_in_the_home_directory_own_commands_wait_for_no_one(
    checks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checks / "commands" / "fix.md").write_text("Fix it.")
    monkeypatch.chdir(checks.parent)
    assert "trust" not in found()


def test_an_endpoint_where_nothing_listens_is_a_problem(
    checks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_MODEL", "m")
        (model,) = found()["model"]
        assert (model["state"], "nothing listens there" in model["text"]) == ("problem", True)
        listener.listen()
        (model,) = found()["model"]
    assert model["state"] == "ok"


def test_what_is_named_but_not_there_says_where_and_what_to_do(checks: Path) -> None:
    (checks / "themes").mkdir()
    (checks / "themes" / "spare.toml").write_text('[roles]\naccnt = "#fff"\n')
    (checks / "settings.json").write_text(
        json.dumps(
            {
                "permissions": {"allow": ["Bash("]},
                "statusLine": {"type": "command", "command": "~/.agent/status.sh --wide"},
                "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/no/such"}]}]},
            }
        )
    )
    said = found()
    assert "'accnt'" in said["theme"][-1]["text"]
    assert said["status line"][0]["text"] == "~/.agent/status.sh does not exist or cannot be run"
    assert said["rule"][0]["text"].startswith("'Bash(': ")
    assert "settings.json:1" in said["rule"][0]["text"]
    assert said["hook"][0]["fix"].endswith("settings.json.")
    script = checks / "status.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "status line" not in found()
