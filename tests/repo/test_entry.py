"""The command never imports modules of the project in which it is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_tui import main
from tests.repo.checkout import PACKAGES, ROOT, project_file

HOSTILE = "import os; open(os.path.join({where!r}, 'RAN'), 'a').write(__name__ + '\\n')\n"
NAMES = (*PACKAGES, "click", "signal", "__future__", "msgspec")
"""Names of our modules, of a library and of the standard library."""
INSTALLED = str(Path(sys.executable).with_name("agent-tui"))
WAYS = {
    "script": [INSTALLED],
    "module": [sys.executable, "-m", "agent_tui"],
    "file": [sys.executable, str(ROOT / "agent_tui.py")],
}


def _hostile(kind: str, tmp_path: Path) -> Path:
    """Make a project whose modules have these names and leave a trace when they are imported."""
    project = tmp_path / "project"
    project.mkdir()
    code = HOSTILE.format(where=str(tmp_path))
    for name in NAMES:
        if kind == "files":
            (project / f"{name}.py").write_text(code)
            continue
        (project / name).mkdir()
        if kind == "packages":
            (project / name / "__init__.py").write_text(code)
        (project / name / "cli.py").write_text(code)
    return project


def _environment(project: Path, named: str) -> dict[str, str]:
    home = project.parent / "home"
    home.mkdir(exist_ok=True)
    return {"PATH": os.defpath, "HOME": str(home), "PYTHONPATH": named.format(cwd=project)}


def _run(way: str, project: Path, named: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # The tests may run from a checkout that is not installed; then its path is added.
    return subprocess.run(
        [*WAYS[way], *arguments],
        cwd=project,
        env=_environment(project, f"{named}{os.pathsep}{ROOT}"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["packages", "files", "directories"])
def test_a_project_on_the_import_path_is_not_imported(tmp_path: Path, kind: str, way: str) -> None:
    done = _run(way, _hostile(kind, tmp_path), ".", "config", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("named", ["", "{cwd}", "{cwd}/", "nowhere::", ".:{cwd}/tui"])
def test_whatever_the_entry_is_called(tmp_path: Path, named: str) -> None:
    done = _run("script", _hostile("packages", tmp_path), named, "config", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "RAN").exists()


def test_the_demos_server_imports_nothing_of_the_project_either(tmp_path: Path) -> None:
    done = _run("script", _hostile("packages", tmp_path), ".", "--demo", "-p", "hi")
    assert done.returncode == 3, done.stderr
    assert not (tmp_path / "RAN").exists()


def test_a_directory_of_our_own_stays_whoever_named_it(tmp_path: Path) -> None:
    code = "import sys; from agent_tui import main; sys.argv[1:] = ['--version']; sys.exit(main())"
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": "."}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_is_the_entry_module() -> None:
    assert project_file()["project"]["scripts"] == {"agent-tui": "agent_tui:main"}
    assert callable(main)
