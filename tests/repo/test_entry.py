"""The command never runs modules of the project that it is started in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_tui import main
from tests.repo.checkout import ROOT, project_file

HOSTILE = 'raise SystemExit("the project was imported")\n'


@pytest.mark.parametrize("path", [".", "", "{cwd}"], ids=["dot", "empty", "absolute"])
def test_a_project_on_the_import_path_is_not_imported(tmp_path: Path, path: str) -> None:
    (tmp_path / "tui").mkdir()
    (tmp_path / "tui" / "__init__.py").write_text(HOSTILE)
    (tmp_path / "signal.py").write_text(HOSTILE)
    code = "import sys; from agent_tui import main; sys.argv[1:] = ['--version']; sys.exit(main())"
    command = [sys.executable, "-c", code]
    named = path.format(cwd=tmp_path)
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": f"{named}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "agent-tui" in done.stdout


def test_the_command_is_the_entry_module() -> None:
    assert project_file()["project"]["scripts"] == {"agent-tui": "agent_tui:main"}
    assert callable(main)
