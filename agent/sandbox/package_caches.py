"""Caches of package managers: shared with the host, or private to the session.

Only directories that hold no credentials: `~/.cargo` itself does, its registry does not.
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


class PackageCaches(Struct, frozen=True):
    """Caches that may be written, and variables that point tools at them."""

    directories: tuple[str, ...]
    env: Mapping[str, str]


def shared_caches(home: Path, env: Mapping[str, str], temp_dir: str) -> PackageCaches:
    """Return the user's caches that exist; a missing one becomes private to the session."""
    directories: list[str] = []
    own = private_caches(temp_dir).env
    private: dict[str, str] = {}
    for variable, usual in _BY_VARIABLE.items():
        path = Path(env.get(variable) or home / usual)
        # A variable that names a parent of the home directory would open all of it.
        if path.is_dir() and not is_below(str(home), os.path.realpath(path)):
            directories.append(os.path.realpath(path))
        else:
            private[variable] = own[variable]
    directories.extend(
        os.path.realpath(home / usual) for usual in _WITHOUT_VARIABLE if (home / usual).is_dir()
    )
    return PackageCaches(tuple(dict.fromkeys(directories)), private)


def private_caches(temp_dir: str) -> PackageCaches:
    """Return variables that point every tool at a cache private to the session."""
    names = (*_BY_VARIABLE, "XDG_CACHE_HOME")
    return PackageCaches((), {name: f"{temp_dir}/cache/{name.lower()}" for name in names})
