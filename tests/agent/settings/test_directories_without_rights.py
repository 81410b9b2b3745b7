"""Folders that may not be looked into, above a project or in it, end no start."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.prompt.instruction_files import InstructionLocations, Instructions
from agent.settings.load import load_settings
from agent.settings.project_root import find_project_root
from agent.typed_json.read_record import as_values

Close = Callable[[Path], None]


@pytest.fixture
def close(monkeypatch: pytest.MonkeyPatch) -> Close:
    """Take the right to look into a folder away, from whoever runs the tests."""
    stat, closed = os.stat, list[str]()

    def refused(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        if isinstance(path, str | Path) and str(path).startswith(tuple(closed)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", refused)
    return lambda directory: closed.append(f"{directory}/")


@pytest.mark.parametrize("name", [".agent", ".claude", "."], ids=["agent", "claude", "project"])
def test_settings_are_loaded_without_what_cannot_be_seen(
    tmp_path: Path, close: Close, name: str
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for directory in (home, project / ".agent", project / ".claude"):
        directory.mkdir(parents=True)
    close(project / name)
    settings = load_settings(launch_dir=project, home=home, agent_home=home / ".agent")
    assert as_values(settings.values) == {}


def test_a_repository_is_looked_for_above_a_directory_that_cannot_be_seen(
    tmp_path: Path, close: Close
) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "inner"
    inner.mkdir()
    close(inner)
    assert find_project_root(inner) == tmp_path


def test_instructions_of_others_are_passed_over(tmp_path: Path, close: Close) -> None:
    project = tmp_path / "shared" / "project"
    (tmp_path / "shared" / ".agent").mkdir(parents=True)
    (project / ".claude").mkdir(parents=True)
    (project / "AGENTS.md").write_text("ours")
    close(tmp_path / "shared" / ".agent")
    places = InstructionLocations(
        project, tmp_path / "shared", tmp_path, tmp_path / ".agent", os.getuid()
    )
    found = Instructions(places).at_start()
    assert [file.text for file in found] == ["ours"]
