"""Repositories inside the working directories that nobody was asked to trust.

The settings of a repository name programs that git runs even to show a status. The one that the
directory belongs to was trusted with it; one that came along inside, also a bare one made of
ordinary files, was not.
"""

from __future__ import annotations

from collections.abc import Iterator

from permissions.paths.resolve import Target
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Scope
from permissions.shell.access import HERE, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.syntax import Word

_BARE = frozenset({"HEAD", "objects", "refs"})


def in_nested_repository(scope: Scope, facts: CommandFacts) -> bool:
    """Would git read the settings of a repository below a working directory?"""
    if not any(form.head == "git" for form in facts.deny_forms[:1]):
        return False
    places = [one.path for one in facts.accesses if one.kind is AccessKind.READ]
    if not places and facts.folders == {scope.launch}:
        return False
    return any(
        _is_repository(scope, folder)
        for place in (HERE, *places)
        for target in _targets(scope, facts, place)
        for folder in _below_root(scope, target.real)
    )


def _targets(scope: Scope, facts: CommandFacts, place: Word) -> tuple[Target, ...]:
    touch = resolve_access(scope, AccessKind.READ, place, facts.folders)
    return touch.targets if touch else ()


def _below_root(scope: Scope, folder: str) -> Iterator[str]:
    """Yield the directory and those above it, up to the working directory, which is left out."""
    while folder not in scope.roots and folder.count("/") > 1:
        yield folder
        folder = folder.rpartition("/")[0]


def _is_repository(scope: Scope, folder: str) -> bool:
    files = scope.files
    names = files.entries(folder)
    if names is None:
        return True
    if ".git" in names:
        # A submodule's settings are in the outer repository.
        is_own = files.is_dir(f"{folder}/.git") or not any(
            files.is_dir(f"{root}/.git/modules") or files.is_dir(f"{root}/.git/worktrees")
            for root in scope.roots
        )
        if is_own:
            return True
    return _BARE.issubset(names)
