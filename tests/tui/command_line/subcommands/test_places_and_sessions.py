"""Subcommands where a start is unusual: no HOME, nobody to answer, a mode that is none."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from agent.session.record_json import to_json
from agent.session.records import TitleRecord
from agent.session.store import SessionStore
from tui import cli


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [["config"], ["sessions", "list"], ["permissions", "lint"], ["permissions", "replay"]],
    ids=" ".join,
)
def test_without_home_the_system_knows_the_directory_as_in_a_run(
    arguments: list[str],
    project: Path,
    fresh_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(Path, "home", lambda: fresh_home)
    assert cli.main(arguments) == 0

    def unknown() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", unknown)
    assert cli.main(arguments) == 1


@pytest.mark.parametrize(
    ("typed", "status"), [("", 1), ("n\n", 1), ("y\n", 0)], ids=["nobody", "no", "yes"]
)
def test_a_session_is_deleted_after_a_confirmation(
    typed: str,
    status: int,
    project: Path,
    fresh_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = SessionStore(fresh_home / ".agent").create(project)
    session.transcript.append(to_json(TitleRecord("x")))
    session.close()
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert cli.main(["sessions", "delete", session.id]) == status
    assert session.path.exists() is bool(status)
    assert ("--yes deletes without asking" in capsys.readouterr().err) is bool(status)


def test_the_mode_is_among_the_settings(
    project: Path, fresh_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = fresh_home / ".agent" / "settings.json"
    file.parent.mkdir()
    for mode, is_known in (("plan", True), ("paln", False)):
        file.write_text(json.dumps({"permissions": {"defaultMode": mode}}))
        assert cli.main(["config"]) == 0
        told = capsys.readouterr().out
        assert f'permissions.defaultMode = "{mode}"  ({file})' in told
        assert ("unknown mode" in told) is not is_known
    assert cli.main(["config", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "paln"


def test_every_subcommand_takes_json(
    project: Path, fresh_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = SessionStore(fresh_home / ".agent").create(project)
    session.close()
    for arguments in (
        ["config", "set", "theme", "dark"],
        ["config", "path"],
        ["config", "schema"],
        ["config"],
        ["sessions", "list"],
        ["sessions", "search", "x"],
        ["sessions", "repair", "--check"],
        ["sessions", "trace", session.id],
        ["sessions", "delete", session.id, "--yes"],
        ["permissions", "lint"],
        ["permissions", "advise"],
        ["hooks", "list"],
        ["doctor"],
    ):
        cli.main([*arguments, "--json"])
        assert json.loads(capsys.readouterr().out) is not None, arguments


def test_one_setting_is_reported_as_scripts_take_it(
    project: Path, fresh_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = fresh_home / ".agent" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"model": "opus", "maxTurns": 7, "env": {"A": "b"}}))
    told = []
    for key in ("model", "maxTurns", "env"):
        assert cli.main(["config", "get", key]) == 0
        told.append(capsys.readouterr().out)
    assert told == ["opus\n", "7\n", '{"A": "b"}\n']
    assert cli.main(["config", "get", "model", "--json"]) == 0
    assert capsys.readouterr().out == '"opus"\n'
    assert cli.main(["config", "get", "theme"]) == 1
    assert capsys.readouterr().out == ""
    assert cli.main(["config", "get", "modle"]) == 1
    assert "Did you mean 'model'?" in capsys.readouterr().err
