"""What subcommands say about files that nobody trusts yet: nothing in it commands the terminal."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from agent.session.background_input import OpenQuestion
from permissions.base.text.sanitize import sanitize
from tui.cli import main
from tui.command_line.subcommands.attached_session import question_text

TITLE = "\x1b]0;owned\x07"
SETTINGS = {
    f"unknown{TITLE}": 1,
    "permissions": {"allow": [f"Bash(ls {TITLE}\u202e)", f"Ba{TITLE}sh("]},
    "hooks": {
        "PreToolUse": [
            {
                "matcher": f"Ba{TITLE}sh",
                "hooks": [{"type": "command", "command": f"true {TITLE}", "if": f"x{TITLE}("}],
            }
        ]
    },
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "project"
    (directory / ".agent" / "commands").mkdir(parents=True)
    (directory / ".git").mkdir()
    (directory / ".agent" / "settings.json").write_text(json.dumps(SETTINGS))
    (directory / ".agent" / "commands" / "c.md").write_text(f"---\n[{TITLE}: x\n---\nhi")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "AGENT_TUI_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(directory)
    return directory


@pytest.mark.parametrize(
    "command",
    [
        "config",
        "doctor",
        "hooks list --trust",
        "permissions lint .agent/settings.json",
        "permissions explain Bash(ls)",
    ],
)
def test_a_projects_own_text_does_not_command_the_terminal(
    project: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    main(command.split())
    said = capsys.readouterr()
    text = said.out + said.err
    assert text.strip()
    assert not [c for c in text if not (c.isprintable() or c == "\n")]


def test_what_waits_for_trust_is_spelled_out(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["config"])
    assert r"ls \x1b]0;owned\x07U+202E" in capsys.readouterr().out


def test_what_a_background_hook_says_last_does_not_command_the_terminal(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = {"type": "command", "command": r"printf 'late\033]0;owned\007'", "async": True}
    (project / "h.json").write_text(json.dumps({"SessionStart": [{"hooks": [hook]}]}))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(["hooks", "run", "SessionStart", "--settings", "h.json"]) == 0
    assert "background hook said: late�]0;owned�" in capsys.readouterr().err


@pytest.mark.parametrize("stdin", [None, b"\xff\n{}\n"], ids=["closed", "not-text"])
def test_hooks_run_takes_whatever_standard_input_is(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    stdin: bytes | None,
) -> None:
    given = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", given)
    (project / "h.json").write_text("{}")
    assert main(["hooks", "run", "Stop", "--settings", "h.json"]) == (0 if stdin is None else 2)
    assert json.loads(capsys.readouterr().out)["event"] == "Stop"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["permissions", "test"], "agent-tui permissions check"),
        (["permissions", "explian"], "agent-tui permissions explain"),
        (["sessions", "rm"], "agent-tui sessions delete"),
    ],
)
def test_a_guessed_word_is_answered_with_the_right_one(
    words: list[str], meant: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert f"Did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize("more", [{}, {"description": "d"}])
def test_a_question_of_a_session_hides_no_part_of_the_command(more: dict[str, str]) -> None:
    # A shell runs what a terminal would take for the payload of a control string.
    for start, end in (("\x1b]", "\x07"), ("\x9d", "\x9c"), ("\x1b[", "m"), ("\u202e", "")):
        command = f"ls {start}; touch planted; echo {end}"
        question = OpenQuestion("1", "Bash", {"command": command, **more}, "why", None)
        text = question_text(question)
        assert "touch planted" in text
        assert sanitize(text) == text
