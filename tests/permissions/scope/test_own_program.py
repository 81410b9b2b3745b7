"""Where the program itself is: nothing there is changed without a user's word."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from permissions.paths import own_program as module
from permissions.paths.own_program import own_program


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a directory with an environment that takes the place of this one's."""
    packages = tmp_path / ".venv" / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(module, "_PACKAGES", str(packages))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(packages))
    module._directories.cache_clear()
    yield tmp_path
    module._directories.cache_clear()


def test_an_environment_in_the_project_is_the_program(installed: Path) -> None:
    assert own_program([installed]) == (str(installed / ".venv"), "/usr")


def test_an_environment_that_is_the_project_is_protected_in_parts(installed: Path) -> None:
    root = installed / ".venv"
    paths = own_program([root])
    assert str(root) not in paths
    assert {str(root / "pyvenv.cfg"), str(root / "lib/python3/site-packages")} < set(paths)


def test_who_works_on_the_program_may_change_it(installed: Path) -> None:
    inside = installed / ".venv" / "lib" / "python3" / "site-packages" / "agent"
    assert own_program([inside]) == ("/usr", os.path.join(installed, ".venv", "pyvenv.cfg"))
