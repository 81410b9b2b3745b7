"""Caches of package managers: shared with the host, or private to the session.

Only directories that hold no credentials: `~/.cargo` itself does, its registry does not. What the
user's own `npx`, `uvx` or git hook of `pre-commit` runs from a cache, unconfined, is not changed:
there, commands see a directory of the session, or one that is read-only where nothing can be
mounted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from permissions.base.files.without_links import PASS_FLAGS, open_directory
from permissions.paths.resolve import is_below

DIRECTORY: Final = "cache"
"""Where caches of the session are in its temporary directory; they end with it."""
_BY_VARIABLE: Final = {
    "npm_config_cache": ".npm",
    "YARN_CACHE_FOLDER": ".cache/yarn",
    "PIP_CACHE_DIR": ".cache/pip",
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
    ".gradle/caches",
    ".m2/repository",
    ".cache/node-gyp",
    ".nuget/packages",
)
_INSTALLED: Final = {"npm_config_cache": "_npx", "PRE_COMMIT_HOME": "", ".cache/pnpm": "dlx"}
"""Where in a cache installed programs are; empty: everywhere."""
_ALWAYS_PRIVATE: Final = ("UV_CACHE_DIR", "UV_TOOL_DIR")
"""`uvx` runs what is in them, and other projects consist of files of the cache, by hard links."""
_PNPM_STORE: Final = ".local/share/pnpm/store"
"""The user's programs and projects consist of its files, by hard links."""


class PackageCaches(Struct, frozen=True):
    """Caches that may be written, and variables that point tools at them."""

    directories: tuple[str, ...]
    env: Mapping[str, str]
    read_only: tuple[str, ...] = ()
    """What is read-only in them."""
    session_directories: Mapping[str, str] = field(default_factory=dict)
    """Directories that are replaced by one of the session, each with that one."""


def shared_caches(
    home: Path, env: Mapping[str, str], temp_dir: str, *, can_mount: bool
) -> PackageCaches:
    """Return the user's caches that exist; a missing one becomes private to the session.

    Args:
        can_mount: Whether a directory of the session can be mounted in the place of one in a cache.
    """
    caches = _UserCaches(home, temp_dir if can_mount else None)
    own = private_caches(temp_dir).env
    private = {name: own[name] for name in _ALWAYS_PRIVATE}
    for variable, usual in _BY_VARIABLE.items():
        if not caches.add(variable, env.get(variable) or home / usual):
            private[variable] = own[variable]
    for usual in _WITHOUT_VARIABLE:
        caches.add(usual, home / usual)
    if caches.replace(_PNPM_STORE, str(home / _PNPM_STORE), shows_entries=False):
        # What it installed from a store at another path, pnpm refuses to change.
        private["pnpm_config_store_dir"] = str(home / _PNPM_STORE)
    return PackageCaches(
        tuple(dict.fromkeys(caches.directories)),
        private,
        tuple(caches.read_only),
        caches.replacements,
    )


class _UserCaches:
    """The caches of a user that exist."""

    def __init__(self, home: Path, temp_dir: str | None) -> None:
        """`temp_dir`: where directories of the session are made; None: nowhere."""
        self._home = home
        self._temp_dir = temp_dir
        self.directories: list[str] = []
        self.read_only: list[str] = []
        self.replacements: dict[str, str] = {}

    def add(self, key: str, path: str | Path) -> bool:
        """Add a cache; return False if it is missing or cannot be shared."""
        real_path = os.path.realpath(path)
        # A variable that names a parent of the home directory would open all of it.
        if not os.path.isdir(real_path) or is_below(str(self._home), real_path):
            return False
        name = _INSTALLED.get(key)
        if name:
            try:
                # Before a command makes it.
                os.makedirs(os.path.join(real_path, name), exist_ok=True)
            except OSError:
                return False
        if name is not None:
            programs = os.path.realpath(os.path.join(real_path, name))
            self.read_only.append(programs)
            self.replace(key, programs, shows_entries=True)
        if name != "":
            self.directories.append(real_path)
        return True

    def replace(self, key: str, path: str, *, shows_entries: bool) -> bool:
        """Have a directory of the session mounted in the place of another; return False if that is
        not possible.

        Args:
            shows_entries: Whether what is there now can be read in it.
        """
        if self._temp_dir is None or not os.path.isdir(path):
            return False
        source = (
            f"{self._temp_dir}/{DIRECTORY}/{key.strip('.').replace('/', '-').lower()}-installed"
        )
        try:
            entries = list(os.scandir(path)) if shows_entries else []
            files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            _make_directory(source, path, files)
        except OSError:
            return False
        real_path = os.path.realpath(path)
        self.replacements[real_path] = source
        # A command may have made a link of this name, which bubblewrap would follow.
        self.read_only += [
            entry.path
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
            and not os.path.islink(os.path.join(source, entry.name))
        ]
        return True


def _make_directory(path: str, template: str, names: list[str]) -> None:
    """Make a directory below one that commands may write, with copies of the files of another.

    Raises:
        OSError: it cannot be made, or a link is in its place.
    """
    parent, name = os.path.split(path)
    with contextlib.suppress(FileExistsError):
        os.mkdir(parent, 0o700)
    directory = open_directory(parent)
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=directory)
            _copy(template, names, name, directory)
        os.close(os.open(name, PASS_FLAGS, dir_fd=directory))
    finally:
        os.close(directory)


def _copy(template: str, names: list[str], name: str, parent: int) -> None:
    directory = os.open(name, PASS_FLAGS, dir_fd=parent)
    try:
        for each in names:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with (
                open(os.path.join(template, each), "rb") as reader,
                open(os.open(each, flags, 0o600, dir_fd=directory), "wb") as writer,
            ):
                shutil.copyfileobj(reader, writer)
    finally:
        os.close(directory)


def private_caches(temp_dir: str) -> PackageCaches:
    """Return variables that point every tool at a cache private to the session."""
    names = (*_BY_VARIABLE, *_ALWAYS_PRIVATE, "XDG_CACHE_HOME")
    return PackageCaches((), {name: f"{temp_dir}/{DIRECTORY}/{name.lower()}" for name in names})
