"""The user's editor has the terminal for a while, and gives it back whatever happens to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.program import Program
from tests.terminal.conftest import Screen, shows

pytestmark = pytest.mark.pty

CTRL_G = b"\x07"


def script(directory: Path, name: str, text: str) -> str:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def with_draft(screen: Screen, editor: str) -> Program:
    program = screen(VISUAL=editor, ANTHROPIC_API_KEY="k")
    program.type(b"half typed")
    assert program.wait_until(shows("half typed")), program.emulator.text()
    program.type(CTRL_G)
    return program


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo ruined > $1; exit 3", "ended with status 3; nothing was changed"),
        ("rm $1", "No such file or directory"),
        ("kill -9 $$", "was ended by SIGKILL"),
        (None, "No such file or directory"),
    ],
)
def test_an_editor_that_fails_leaves_the_draft_and_the_screen(
    screen: Screen, tmp_path: Path, text: str | None, says: str
) -> None:
    editor = script(tmp_path, "editor", text) if text is not None else "/nonexistent/editor"
    program = with_draft(screen, editor)
    assert program.wait_until(lambda e: says in " ".join(e.text().split())), program.emulator.text()
    program.type(b" and on")
    assert program.wait_until(shows("half typed and on")), program.emulator.text()


def test_an_editor_in_a_path_with_spaces_edits_the_draft(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "my tools").mkdir()
    editor = script(tmp_path / "my tools", "my editor", 'echo "fully typed" > "$1"')
    program = with_draft(screen, editor)
    assert program.wait_until(shows("fully typed")), program.emulator.text()


def test_ctrl_c_in_the_editor_is_the_editors(screen: Screen, tmp_path: Path) -> None:
    editor = script(tmp_path, "editor", "echo is open; trap 'exit 0' INT; sleep 60 & wait")
    program = with_draft(screen, editor)
    assert program.wait_until(shows("is open")), program.emulator.text()
    program.type(b"\x03")
    assert program.wait_until(shows("half typed")), program.emulator.text()
    program.type(b" and on")
    assert program.wait_until(shows("half typed and on")), program.emulator.text()
