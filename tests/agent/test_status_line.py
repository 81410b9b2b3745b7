"""The status line command: what it may print, and that it cannot hold anything up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent.status_line import run_status_command

ENV = dict(os.environ)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        pytest.param("echo one; echo; echo two", ("one", "two"), id="lines"),
        pytest.param(r"printf '\033[31mred\033[0m \033]0;title\007x'", ("red x",), id="escapes"),
        pytest.param("seq 100", ("1", "2", "3"), id="many"),
        pytest.param(r"printf '\377ok'", ("�ok",), id="no text"),
        pytest.param("exit 3", (), id="failure"),
        pytest.param("printf %s $COLUMNS", ("77",), id="width"),
        pytest.param("exec 0<&-; echo deaf", ("deaf",), id="does not read"),
    ],
)
async def test_what_is_shown(tmp_path: Path, command: str, lines: tuple[str, ...]) -> None:
    given = {"columns": 77, "cwd": "x" * 200_000}
    found = await run_status_command(command, given, cwd=tmp_path, env=ENV)
    shown = tuple("".join(piece.text for piece in line) for line in found.lines)
    assert (shown, found.problem) == (lines, "")


async def test_it_gets_the_session_as_json(tmp_path: Path) -> None:
    await run_status_command("cat > given.json", {"a": "ü"}, cwd=tmp_path, env=ENV)
    assert json.loads((tmp_path / "given.json").read_text()) == {"a": "ü"}


async def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    found = await run_status_command(
        "sleep 1000 & echo $! > pid; wait", {}, cwd=tmp_path, env=ENV, timeout_s=0.5
    )
    assert "longer than 0.5 s" in found.problem
    pid = int((tmp_path / "pid").read_text())
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


async def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    found = await run_status_command("echo x", {}, cwd=tmp_path / "gone", env=ENV)
    assert "cannot start" in found.problem
