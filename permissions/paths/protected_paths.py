"""Paths that are never changed without a user's approval: repository internals, own settings,
start-up files of shells and tools.

Names compare case-folded and without invisible characters on every platform, because a
case-insensitive disk would open the protected file for the other spelling.
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum

from permissions.base.text.late_pattern import compile_late

OWN_DIRS = frozenset({".agent", ".claude"})
"""Directories that govern the agent itself: settings, hooks, commands, trust."""

PROTECTED_DIRS = OWN_DIRS | {
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
}

OWN_FILES = frozenset({".mcp.json", ".claude.json"})

PROTECTED_FILES = OWN_FILES | frozenset(
    """
    .gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc
    .zprofile .zshenv .zlogin .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs
    .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc
    .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml
    .lefthook.yaml gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc
    pyrightconfig.json
    """.split()
)

_NODE_MODULES = "node_modules"
"""Protected only in the home directory."""

_WORKTREES = "worktrees"
"""Below an own directory, this one contains ordinary checkouts."""


class Protection(Enum):
    """How much a path is protected."""

    NONE = "none"
    PROTECTED = "protected"
    OWN = "own"
    """Governs the agent itself: asks even in bypassPermissions."""


def protection_of(path: str) -> Protection:
    """Return the protection of a path, which is relative to the working directory around it."""
    names = [_fold_name(name) for name in path.split("/") if name not in ("", ".")]
    result = Protection.NONE
    position = 0
    while position < len(names):
        if names[position] in OWN_DIRS and _is_worktree(names, position):
            position += 2
            continue
        is_last = position == len(names) - 1
        if names[position] in OWN_DIRS or (is_last and names[position] in OWN_FILES):
            return Protection.OWN
        if _is_protected_name(names, position):
            result = Protection.PROTECTED
        position += 1
    return result


def is_users_configuration(name: str) -> bool:
    """Return whether a path relative to the home directory is a hidden name, or inside one; or
    `node_modules`, where Node.js and `npx` look from every directory below.

    Those that run something at the next login, in an editor or in a debugger cannot be listed.
    """
    return name.startswith(".") or _fold_name(name.partition("/")[0]) == _NODE_MODULES


def _is_worktree(names: list[str], position: int) -> bool:
    """Whether the path is inside a work tree below an own directory."""
    return names[position + 1 : position + 2] == [_WORKTREES] and position + 2 < len(names)


def _is_protected_name(names: list[str], position: int) -> bool:
    name = names[position]
    if name == "git" and position > 0 and names[position - 1] == ".config":
        return True
    is_last = position == len(names) - 1
    return name in PROTECTED_DIRS or (is_last and name in PROTECTED_FILES)


ALL_NAMES = tuple(sorted(PROTECTED_DIRS | PROTECTED_FILES))
"""Every protected last component, for patterns that could produce one."""


_UNDOTTED = sorted(name for name in (*ALL_NAMES, _NODE_MODULES) if not name.startswith("."))
_SUSPECT = compile_late("/(?:\\.|" + "|".join(map(re.escape, _UNDOTTED)) + ")", re.IGNORECASE)
"""Matches every ASCII absolute path that contains a protected name."""


def may_be_protected(path: str) -> bool:
    """Return whether an absolute path, or its part below some directory, may be protected."""
    return not path.isascii() or _SUSPECT.search(path) is not None


def _fold_name(name: str) -> str:
    if name.isascii():
        return name.lower()
    visible = "".join(mark for mark in name if unicodedata.category(mark) != "Cf")
    return unicodedata.normalize("NFKC", visible).casefold()
