"""Programs of the user that run in a project do not load code from there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent.model.key_helper import read_helper_key
from permissions.base.process.ask_command import ask_command
from permissions.base.process.safe_python import safe_python, safe_python_program

PYTHON = sys.executable


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import json'",
        'python3 -c"import json"',
        "python -u -X utf8 -Wignore -Ec 'import json'",
        "cat | /usr/bin/python3.12 - x",
        "python3 <<'E'\nimport json\nE",
        "jq . | python3 -m json.tool",
        "echo 'import json' | python3",
        "bash -c \"python3 -c 'import json'\"",
        "python3;",
    ],
)
def test_code_as_text_does_not_look_in_the_current_directory(command: str) -> None:
    assert safe_python(command, {}) == {"PYTHONSAFEPATH": "1"}


@pytest.mark.parametrize(
    "command",
    [
        "python3 ~/.agent/hooks/guard.py -c strict",
        "python3 -m pytest -q",
        "python3 -u scripts/check.py < x",
        "ruff check -c ruff.toml",
        "ipython -c x",
        "echo python -cool",
    ],
)
def test_what_is_given_as_a_file_or_module_finds_its_own(command: str) -> None:
    assert safe_python(command, {}) == {}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(":/x", "/x"), ("/x:", "/x"), ("/x::/y", "/x:/y"), (":", ""), ("/x:.", None), ("", None)],
)
def test_search_paths_lose_empty_entries(value: str, expected: str | None) -> None:
    assert safe_python("guard.sh", {"PYTHONPATH": value}).get("PYTHONPATH") == expected


def test_scripts_that_a_command_names_count(tmp_path: Path) -> None:
    script = tmp_path / "guard.sh"
    script.write_text("#!/bin/sh\npython3 -c 'import json'\n")
    env = {"HOME": str(tmp_path)}
    for command in (str(script), "bash ~/guard.sh", "bash '$HOME/guard.sh' x", "~/none.sh"):
        assert bool(safe_python(command, env)) is ("none" not in command)


@pytest.mark.parametrize(
    ("argv", "is_safe"),
    [
        (("python3", "-m", "server"), True),
        (("/usr/bin/python3.12", "-um", "server"), True),
        (("python3", "-c", "x"), True),
        (("python3", "server.py"), False),
        (("uvx", "server", "-m"), False),
        (("python3",), False),
    ],
)
def test_a_server_of_the_user_is_no_module_of_the_project(
    argv: tuple[str, ...], is_safe: bool
) -> None:
    assert bool(safe_python_program(argv)) is is_safe


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    (tmp_path / "json.py").write_text("print('evil')\ndumps = str\n")
    return tmp_path


async def test_a_status_line_runs_no_module_of_the_project(hostile: Path) -> None:
    command = f"{PYTHON} -c 'import json; print(json.dumps(1))'"
    text = await ask_command(command, {}, cwd=hostile, env={}, timeout_s=30.0)
    assert text == "1\n"


def test_the_module_would_run(hostile: Path) -> None:
    """Without the variable, so that the tests around this one say something."""
    argv = [PYTHON, "-c", "import json"]
    ran = subprocess.run(argv, cwd=hostile, capture_output=True, check=True)
    assert ran.stdout == b"evil\n"


async def test_what_reads_a_key_is_not_started_in_the_project(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = hostile / "home"
    home.mkdir()
    monkeypatch.chdir(hostile)
    command = f"{PYTHON} -m json.tool --compact"
    key = await read_helper_key(f"echo {json.dumps('[1]')} | {command}", env={"HOME": str(home)})
    assert key == "[1]"
