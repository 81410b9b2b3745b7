"""A command changes the program that confines it: in an environment of the project, or in a cache
from which it was installed."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
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
    cache = confined.home / ".cache" / "pypoetry"
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


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler here")
def test_what_confines_loads_no_library_of_the_project(make_confined: MakeConfined) -> None:
    confined = make_confined()
    marker, library = confined.outside / "ran", confined.project / "libcap.so.2"
    (confined.project / "x.c").write_text(
        "#include <fcntl.h>\nint cap_from_name(const char *n, int *v) { return 0; }\n"
        f'__attribute__((constructor)) void f(void) {{ open("{marker}", O_CREAT, 0600); }}\n'
    )
    compile_argv = ["cc", "-shared", "-fPIC", "-o", str(library), str(confined.project / "x.c")]
    subprocess.run(compile_argv, check=True)
    env = {"LD_LIBRARY_PATH": ".", "LD_PRELOAD": str(library)}
    shown = confined.run("echo $LD_LIBRARY_PATH $LD_PRELOAD", Confinement.PROJECT, program_env=env)
    assert shown.output == f". {library}\n"
    assert not marker.exists()


def test_files_that_an_installer_linked_become_the_programs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, installed = tmp_path / "cache", tmp_path / "installed"
    cache.mkdir()
    requirements = {"own": "Needed.One[extra]>=2; python_version > '3'", "needed_one": "own"}
    for name in ("own", "needed_one", "unrelated", "at_start"):
        package, info = installed / name, installed / f"{name}-1.dist-info"
        package.mkdir(parents=True)
        info.mkdir()
        (cache / f"{name}.py").write_text("own")
        (cache / f"{name}.py").chmod(0o755)
        os.link(cache / f"{name}.py", package / "a.py")
        needs = f"Requires-Dist: {requirements[name]}\n" if name in requirements else ""
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n{needs}")
        start = "x.pth,,\n" if name == "at_start" else ""
        (info / "RECORD").write_text(f"{name}/a.py,,\n{name}/link,,\n{name}/gone,,\n{start}")
        (package / "link").symlink_to("a.py")
    (installed / "x.pth").touch()
    monkeypatch.setattr(sys, "path", [str(installed)])
    separate_files("own")
    for file in cache.iterdir():
        file.write_text("evil")
    texts = {path.parent.name: path.read_text() for path in installed.glob("*/a.py")}
    assert texts == {"own": "own", "needed_one": "own", "at_start": "own", "unrelated": "evil"}
    assert os.access(installed / "own" / "a.py", os.X_OK)
    assert (installed / "own" / "link").is_symlink()
    assert sorted(os.listdir(installed / "own")) == ["a.py", "link"]


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [("/x:", "/x"), (":/x;;/y", "/x:/y"), ("/x:.", None), ("/x", None), ("", None)],
)
def test_no_library_is_looked_for_in_the_current_directory(
    value: str, expected: str | None
) -> None:
    """Neither by the program itself nor by what it starts unconfined, such as bubblewrap."""
    code = "import agent_tui, os, sys; agent_tui._leave_current_directory(); "
    code += "print(os.environ['LD_LIBRARY_PATH'], len(sys.argv))"
    ended = subprocess.run(
        [sys.executable, "-c", code, "argument"],
        env={"LD_LIBRARY_PATH": value, "PYTHONPATH": os.path.dirname(agent_tui.__file__)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == f"{value if expected is None else expected} 2\n"


def test_what_the_start_imports_first_is_part_of_the_interpreter() -> None:
    module = sys.modules[separate_files.__module__]
    imported = {name for name, value in vars(module).items() if type(value) is type(os)}
    assert imported == {"contextlib", "metadata", "os", "re", "shutil"}
