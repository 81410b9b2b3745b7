"""A command changes the program that confines it: in an environment of the project, or in a cache
from which it was installed."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path

import pytest

import agent_tui
from permissions.base.files.separate_files import separate_files
from permissions.confinement import Confinement
from permissions.paths import own_program
from tests.agent.sandbox.conftest import MakeConfined

ATTACK = """
echo evil > $PLACE/lib/x.pth; echo evil >> $PLACE/lib/a.py; mv $PLACE $PLACE.2; rm -rf $PLACE
mv $AROUND $AROUND.2; mkdir -p $PLACE/lib; echo evil > $PLACE/lib/a.py; touch $AROUND/free
"""


@pytest.mark.parametrize("kind", ["environment", "cache"])
def test_the_program_is_not_changed_where_a_command_may_write(
    make_confined: MakeConfined, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    confined = make_confined()
    cache = confined.home / ".cache" / "uv"
    around = confined.project / "envs" if kind == "environment" else cache / "archive-v0"
    place = around / "one"
    (place / "lib").mkdir(parents=True)
    (place / "lib" / "a.py").write_text("own")
    monkeypatch.setattr(own_program, "_directories", lambda: (str(place),))
    variables = f"PLACE={place} AROUND={around}\n"
    confined.run(variables + ATTACK, Confinement.PROJECT_FILES)
    assert (place / "lib" / "a.py").read_text() == "own"
    assert os.listdir(place / "lib") == ["a.py"]
    assert (around / "free").exists()


def test_files_that_an_installer_linked_become_the_programs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, installed = tmp_path / "cache", tmp_path / "installed"
    for directory in (cache, installed / "package"):
        directory.mkdir(parents=True)
    (cache / "a.py").write_text("own")
    (cache / "a.py").chmod(0o755)
    os.link(cache / "a.py", installed / "package" / "a.py")
    (installed / "link").symlink_to("package/a.py")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(installed))
    separate_files()
    (cache / "a.py").write_text("evil")
    assert (installed / "package" / "a.py").read_text() == "own"
    assert os.access(installed / "package" / "a.py", os.X_OK)
    assert (installed / "link").is_symlink()
    assert os.listdir(installed / "package") == ["a.py"]


def test_the_start_sees_that_files_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "agent_tui.py"
    own.touch()
    monkeypatch.setattr(agent_tui, "__file__", str(own))
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(tmp_path)])
    assert not agent_tui._shares_files()
    os.link(own, tmp_path / "cached")
    assert agent_tui._shares_files()


def test_what_the_start_imports_first_is_part_of_the_interpreter() -> None:
    module = sys.modules[separate_files.__module__]
    imported = {name for name, value in vars(module).items() if type(value) is type(os)}
    assert imported == {"contextlib", "os", "shutil", "sysconfig"}
