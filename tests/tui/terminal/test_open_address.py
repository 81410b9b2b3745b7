"""What the user's browser is started with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from permissions.base.process.spawn import Launch
from tui.terminal import open_address


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is named `open`")
def test_the_browser_gets_no_key_and_is_no_program_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("project", "bin"):
        opener = tmp_path / name / "xdg-open"
        opener.parent.mkdir()
        opener.touch(mode=0o755)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("PATH", f".:{tmp_path}/project:{tmp_path}/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not a key")
    started: list[Launch] = []
    monkeypatch.setattr(open_address, "spawn", lambda program, **_: started.append(program))
    assert open_address.open_address("https://example.org/")
    (program,) = started
    assert program.argv == (f"{tmp_path}/bin/xdg-open", "https://example.org/")
    assert "ANTHROPIC_API_KEY" not in program.env
    assert program.env["PATH"] == f"{tmp_path}/bin"
