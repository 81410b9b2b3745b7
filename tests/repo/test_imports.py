"""Imports are cheap: no heavy library is loaded before it is needed, and no side effects."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.repo.checkout import PACKAGES, ROOT, tracked_files

HEAVY = {"anthropic", "httpx2", "mcp", "pydantic", "pygments", "rich", "textual", "tree_sitter"}


def _run_python(code: str, *arguments: str, cwd: Path) -> str:
    """Run code in a new interpreter; return its output. Any standard error fails the test."""
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=cwd,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(cwd / "no-home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (child.returncode, child.stderr) == (0, "")
    return child.stdout


def _modules() -> list[str]:
    sources = [p for p in tracked_files() if p.suffix == ".py" and p.parts[0] in PACKAGES]
    return [
        ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        for path in sources
        if not any("sample" in part for part in path.parts) and path.name != "__main__.py"
    ]


def test_the_command_line_loads_no_heavy_library(tmp_path: Path) -> None:
    code = "import json, sys, tui.cli; print(json.dumps(sorted(sys.modules)))"
    loaded = {name.partition(".")[0] for name in json.loads(_run_python(code, cwd=tmp_path))}
    assert loaded & HEAVY == set()


def test_importing_every_module_prints_nothing_and_writes_nothing(tmp_path: Path) -> None:
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    output = _run_python(code, *_modules(), cwd=tmp_path)
    assert (output, list(tmp_path.iterdir())) == ("", [])


def _loaded_by(code: str, cwd: Path) -> set[str]:
    return set(
        json.loads(
            _run_python(f"{code}\nimport json, sys; print(json.dumps([*sys.modules]))", cwd=cwd)
        )
    )


def test_the_look_before_git_imports_no_package_of_others_and_no_event_loop(tmp_path: Path) -> None:
    loaded = _loaded_by("import agent.sandbox.git.checked_git", tmp_path)
    assert loaded & {"asyncio", "msgspec", "pathlib", "ssl"} == set()


def test_the_first_frame_waits_for_the_screen_alone(tmp_path: Path) -> None:
    loaded = _loaded_by("import tui.cli, tui.startup.start, tui.startup.screen_run", tmp_path)
    late = {
        "agent.assembly.assemble", "agent.conversation.conversation", "agent.events",
        "agent.headless.run", "click", "hooks", "importlib.metadata", "permissions.decision",
        "permissions.gate", "pydantic", "pygments", "rich.markdown", "rich.syntax",
        "tui.dialogs.permission", "wcwidth",
    }  # fmt: skip
    assert loaded & late == set()


def test_a_run_without_a_screen_loads_none(tmp_path: Path) -> None:
    modules = (
        "tui.cli", "tui.startup.start", "agent.assembly.assemble", "agent.headless.run",
        "tui.conversation.model_choice",
    )  # fmt: skip
    code = f"import {', '.join(modules)}"
    loaded = {name.partition(".")[0] for name in _loaded_by(code, tmp_path)}
    assert loaded & {"textual", "rich", "wcwidth", "anthropic", "httpx2", "pydantic"} == set()


def test_the_entry_point_can_catch_a_ctrl_c_during_every_import_of_ours(tmp_path: Path) -> None:
    loaded = _loaded_by("import tui.cli", tmp_path)
    ours = ("agent.", "hooks.", "permissions.", "themes.", "tui.", "dataclasses")
    assert [name for name in loaded if name.startswith(ours)] == ["tui.cli"]


def test_importing_a_module_compiles_no_pattern(tmp_path: Path) -> None:
    # Together they would take a tenth of the time until the first request. Input and screen
    # output have few, and import nothing of other packages.
    code = """
import importlib, re, sys
OURS = ("agent.", "hooks.", "permissions.", "tui.")
compiled, compile = [], re.compile
def note(pattern, flags=0):
    name = sys._getframe(1).f_globals["__name__"]
    if name.startswith(OURS) and not name.startswith(("tui.input.", "tui.screen.")):
        compiled.append(pattern)
    return compile(pattern, flags)
re.compile = note
for name in sys.argv[1:]:
    importlib.import_module(name)
print(compiled)
"""
    assert _run_python(code, *_modules(), cwd=tmp_path) == "[]\n"


def test_every_pattern_of_a_module_compiles(tmp_path: Path) -> None:
    code = """
import gc, importlib, sys
from permissions.base.text.late_pattern import _LatePattern
for name in sys.argv[1:]:
    importlib.import_module(name)
patterns = [each for each in gc.get_objects() if isinstance(each, _LatePattern)]
print(len(patterns), all(each.groups >= 0 for each in patterns))
"""
    count, is_right = _run_python(code, *_modules(), cwd=tmp_path).split()
    assert (int(count) > 300, is_right) == (True, "True")
