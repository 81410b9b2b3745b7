"""Protects the user's configuration where the home directory or a parent of it is writable."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.sandbox.protected.protected_names import is_repository
from permissions.paths.protected_paths import is_users_configuration
from permissions.paths.resolve import is_below

_RUN_LATER: Final = (
    ".emacs",
    ".emacs.d",
    ".gdbinit",
    ".inputrc",
    ".pam_environment",
    ".screenrc",
    ".ssh",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    ".xsessionrc",
    "node_modules",
)
"""Names that are protected even if missing: files that run at login or in common programs, also in
`npx` of the user's servers, which start below the home directory. Other
hidden names are more often caches and environments."""


class HomeNames(Struct, frozen=True):
    """The names that must not change; canonical paths."""

    read_only: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Names that are links, each with its target."""
    missing: tuple[str, ...] = ()


def home_names(home: Path, roots: Iterable[str], writable: Iterable[str]) -> HomeNames:
    """Return the configuration in the home directory; empty unless a working directory contains it.

    Args:
        writable: Paths that commands may write anyway: caches.
    """
    directory = os.path.realpath(home)
    roots = tuple(roots)
    if not any(is_below(directory, root) for root in roots):
        return HomeNames()
    open_paths = {*roots, *writable}
    read_only: list[str] = []
    links: list[tuple[str, str]] = []
    for name in _configuration_names(directory):
        path = os.path.join(directory, name)
        if os.path.islink(path):
            links.append((path, os.readlink(path)))
            path = os.path.realpath(path)
        if path not in open_paths and not is_repository(path) and os.path.exists(path):
            read_only.append(path)
    candidates = (os.path.join(directory, name) for name in _RUN_LATER)
    missing = tuple(path for path in candidates if not os.path.lexists(path))
    return HomeNames(tuple(read_only), tuple(links), missing)


def _configuration_names(directory: str) -> list[str]:
    try:
        return sorted(filter(is_users_configuration, os.listdir(directory)))
    except OSError:
        return []
