"""The wheel is complete: it contains every file of the packages in the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.repo.checkout import PACKAGES, ROOT, tracked_files

MANUAL = Path("docs/agent-tui.1")
ENTRY = "agent_tui.py"


def _built_wheel(tmp_path: Path) -> Path:
    """Build from a copy of the tracked files, because a build leaves directories beside them."""
    source, target = tmp_path / "source", tmp_path / "dist"
    target.mkdir()
    for path in tracked_files():
        if path == MANUAL or path.parts[0] in (
            *PACKAGES,
            ENTRY,
            "pyproject.toml",
            "README.md",
            "LICENSE",
        ):
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, source / path)
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", code, str(target)], cwd=source, check=True, capture_output=True
    )
    (wheel,) = target.iterdir()
    return wheel


def test_wheel_holds_every_file_of_the_packages_and_no_other(tmp_path: Path) -> None:
    with zipfile.ZipFile(_built_wheel(tmp_path)) as wheel:
        installed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    manual = {name for name in installed if name.endswith(".data/data/share/man/man1/agent-tui.1")}
    packages = {path.as_posix() for path in tracked_files() if path.parts[0] in PACKAGES}
    assert (len(manual), installed - manual) == (1, {ENTRY, *packages})
