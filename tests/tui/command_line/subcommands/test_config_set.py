"""`agent-tui config set`: one key of the user's own settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tui.command_line.subcommands.config_command import command


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home" / ".agent").mkdir(parents=True)
    (tmp_path / "project" / ".agent").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.delenv("AGENT_TUI_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home" / ".agent" / "settings.json"


def set_key(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["set", *arguments])


def test_a_key_is_set_beside_others_and_taken_out(file: Path) -> None:
    file.write_text('{"model": "m", "mine": 1}')
    assert set_key("theme", "light").exit_code == 0
    assert set_key("maxTurns", "7").exit_code == 0
    assert json.loads(file.read_text()) == {
        "model": "m",
        "mine": 1,
        "theme": "light",
        "maxTurns": 7,
    }
    assert set_key("model").exit_code == 0
    assert "model" not in json.loads(file.read_text())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("themme", "x"), "Unknown setting 'themme'. Did you mean 'theme'?"),
        (("maxTurns", "many"), "maxTurns: expected"),
    ],
)
def test_what_cannot_be_set_is_reported(file: Path, arguments: tuple[str, ...], said: str) -> None:
    result = set_key(*arguments)
    assert (result.exit_code, said in result.output) == (1, True)
    assert not file.exists()


def test_a_theme_that_is_not_there_is_named(file: Path) -> None:
    assert "!" not in set_key("theme", "auto").output
    result = set_key("theme", "dusk")
    assert (result.exit_code, "! There is no theme" in result.output) == (0, True)
    (file.parent / "themes").mkdir()
    (file.parent / "themes" / "dusk.toml").write_text('base = "dark"')
    assert "!" not in set_key("theme", "dusk").output


def test_a_stronger_file_is_named(file: Path, tmp_path: Path) -> None:
    stronger = tmp_path / "project" / ".agent" / "settings.json"
    stronger.write_text('{"theme": "dark"}')
    assert f"{stronger} takes precedence here" in set_key("theme", "light").output
