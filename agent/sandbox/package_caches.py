"""Caches of package managers: shared with the host, or private to the session.

Only directories that hold no credentials: `~/.cargo` itself does, its registry does not. Programs
that were installed in a cache, to be run from there, are read-only: the user's own `npx`, or a git
hook of `pre-commit`, runs them unconfined.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.paths.resolve import is_below

_BY_VARIABLE: Final = {
    "npm_config_cache": ".npm",
    "YARN_CACHE_FOLDER": ".cache/yarn",
    "PIP_CACHE_DIR": ".cache/pip",
    "UV_CACHE_DIR": ".cache/uv",
    "POETRY_CACHE_DIR": ".cache/pypoetry",
    "PRE_COMMIT_HOME": ".cache/pre-commit",
    "GOCACHE": ".cache/go-build",
    "GOMODCACHE": "go/pkg/mod",
    "BUN_INSTALL_CACHE_DIR": ".bun/install/cache",
    "CCACHE_DIR": ".cache/ccache",
}
_WITHOUT_VARIABLE: Final = (
    ".cargo/registry",
    ".cargo/git",
    ".cache/pnpm",
    ".local/share/pnpm/store",
    ".gradle/caches",
    ".m2/repository",
    ".cache/node-gyp",
    ".nuget/packages",
)
_INSTALLED: Final = {"npm_config_cache": "_npx", "PRE_COMMIT_HOME": "", ".cache/pnpm": "dlx"}
"""Where in a cache installed programs are; empty: everywhere."""


class PackageCaches(Struct, frozen=True):
    """Caches that may be written, and variables that point tools at them."""

    directories: tuple[str, ...]
    env: Mapping[str, str]
    read_only: tuple[str, ...] = ()
    """What is read-only in them."""


def shared_caches(home: Path, env: Mapping[str, str], temp_dir: str) -> PackageCaches:
    """Return the user's caches that exist; a missing one becomes private to the session."""
    directories: list[str] = []
    read_only: list[str] = []
    own = private_caches(temp_dir).env
    private: dict[str, str] = {}

    def add_cache(key: str, path: Path) -> bool:
        """Add a cache; return False if it is missing or cannot be shared."""
        real_path = os.path.realpath(path)
        # A variable that names a parent of the home directory would open all of it.
        if not os.path.isdir(real_path) or is_below(str(home), real_path):
            return False
        name = _INSTALLED.get(key)
        if name:
            programs = os.path.join(real_path, name)
            try:
                # Before a command makes it.
                os.makedirs(programs, exist_ok=True)
            except OSError:
                return False
            read_only.append(os.path.realpath(programs))
        if name != "":
            directories.append(real_path)
        return True

    for variable, usual in _BY_VARIABLE.items():
        if not add_cache(variable, Path(env.get(variable) or home / usual)):
            private[variable] = own[variable]
    for usual in _WITHOUT_VARIABLE:
        add_cache(usual, home / usual)
    return PackageCaches(tuple(dict.fromkeys(directories)), private, tuple(read_only))


def private_caches(temp_dir: str) -> PackageCaches:
    """Return variables that point every tool at a cache private to the session."""
    names = (*_BY_VARIABLE, "XDG_CACHE_HOME")
    return PackageCaches((), {name: f"{temp_dir}/cache/{name.lower()}" for name in names})
