"""A local settings file that we create does not end up in a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent.settings.local_ignore import keep_out_of_git


def test_git_does_not_see_a_local_file_we_create(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    local = tmp_path / ".agent" / "settings.local.json"
    assert keep_out_of_git(local)
    local.write_text("{}")
    (local.parent / "settings.json").write_text("{}")
    listed = ["git", "status", "--porcelain", "--untracked-files=all"]
    seen = subprocess.run(listed, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert seen.stdout == "?? .agent/settings.json\n"


def test_what_is_there_stays(tmp_path: Path) -> None:
    local = tmp_path / "settings.local.json"
    (tmp_path / ".gitignore").write_text("mine\n")
    assert not keep_out_of_git(local)
    assert not keep_out_of_git(tmp_path / "settings.json")
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
