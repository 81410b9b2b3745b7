"""The scratch copy that the demo works in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent.headless.demo import demo_project


def in_git(project: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_copy_is_a_clean_work_tree_whatever_the_users_git_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gitconfig").write_text("[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    directory, project = demo_project()
    monkeypatch.delenv("GIT_DIR")
    try:
        assert (project / ".git").is_dir()
        (project / "__pycache__").mkdir()
        (project / "__pycache__" / "basket.pyc").touch()
        assert in_git(project, "status", "--porcelain") == ""
        assert in_git(project, "log", "--format=%an %s") == "demo The basket"
        assert not (tmp_path / "elsewhere").exists()
    finally:
        directory.remove()


@pytest.mark.parametrize("git", ["", "#!/bin/sh\n/bin/mkdir -p .git\nexit 1\n"])
def test_without_a_git_that_works_the_copy_is_a_plain_directory(
    git: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if git:
        (tmp_path / "git").write_text(git)
        (tmp_path / "git").chmod(0o755)
    # The shell of the script is found by its path.
    monkeypatch.setenv("PATH", str(tmp_path))
    directory, project = demo_project()
    try:
        assert any(project.glob("*.py"))
        assert not (project / ".git").exists()
    finally:
        directory.remove()
