"""The checkout under test: its root, its tracked files and its project file."""

from __future__ import annotations

import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent", "hooks", "permissions", "themes", "tui")


@cache
def tracked_files() -> tuple[Path, ...]:
    """List the tracked files that exist, relative to the root.

    Raises:
        RuntimeError: the checkout is not a git work tree, so that nothing can be checked.
    """
    git = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False
    )
    if git.returncode != 0:
        raise RuntimeError(f"git ls-files failed in {ROOT}: {git.stderr.decode()}")
    names = [name for name in git.stdout.decode().split("\0") if name]
    return tuple(path for path in map(Path, names) if (ROOT / path).is_file())


@cache
def tracked_texts() -> dict[Path, str]:
    """Read every tracked file that is UTF-8 text."""
    texts: dict[Path, str] = {}
    for path in tracked_files():
        try:
            texts[path] = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return texts


@cache
def project_file() -> dict[str, Any]:
    """Parse pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
