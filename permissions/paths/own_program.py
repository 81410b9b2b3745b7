"""The directories of this program itself: code written there runs later without confinement."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from permissions.paths.resolve import is_below

_PACKAGES: Final = str(Path(__file__).resolve().parents[2])


def own_program(working_dirs: Iterable[str | Path]) -> tuple[str, ...]:
    """Return the canonical directories of the program, its packages and its interpreter.

    Without those that contain a working directory: the user then works on the program itself.
    """
    real_paths = [os.path.realpath(path) for path in working_dirs]
    paths: list[str] = []
    for path in _directories():
        is_around = any(is_below(one, path) for one in real_paths)
        if not is_around and not any(is_below(path, one) for one in paths):
            paths.append(path)
    return tuple(paths)


@cache
def _directories() -> tuple[str, ...]:
    inside = [sysconfig.get_path(name) for name in ("purelib", "platlib", "scripts")]
    paths = [
        sys.prefix,
        sys.base_prefix,
        _PACKAGES,
        *inside,
        os.path.join(sys.prefix, "pyvenv.cfg"),
    ]
    return tuple(filter(os.path.exists, dict.fromkeys(map(os.path.realpath, paths))))
