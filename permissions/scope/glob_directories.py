"""Files behind patterns for directories, as in `cat s*/key.pem`, for rules that are about files.

What is there now is looked up, one component after the other. The scope has its own, stricter
reading of such patterns; this one only finds more files for rules to be about.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection
from itertools import chain

from msgspec import Struct

from permissions.base.text.star_pattern import UNKNOWN, without_brackets
from permissions.paths.resolve import Target, resolve_literal
from permissions.scope.resolve_access import ResolvedAccess
from permissions.scope.scope import Scope
from permissions.shell.access import AccessKind
from permissions.shell.flow.working_directories import UNKNOWN_FOLDER, Folders
from permissions.shell.syntax import GLOB_MARKS, PIPE_MARK, Word

MAX_LOOKED_UP = 2_000
"""Names that are compared with patterns; beyond it no more files are found."""

_LONGEST_PATTERN = 255
"""Characters; a longer one takes its time to be read, and counts as fitting every name."""
_GLOBS = frozenset(GLOB_MARKS.values())
_UNMARK = str.maketrans({mark: character for character, mark in GLOB_MARKS.items()})


def behind_pattern(
    scope: Scope, kind: AccessKind, word: Word, folders: Folders
) -> ResolvedAccess | None:
    """Return an access with the files that its pattern expands to; None when it has none."""
    if word.text.isascii() or not _GLOBS & set(word.text.rpartition("/")[0]):
        return None
    if UNKNOWN in word.text or PIPE_MARK in word.text:
        return None
    places = {"/"} if word.text.startswith("/") else folders - {UNKNOWN_FOLDER}
    targets = tuple(chain.from_iterable(_targets(scope, word, place) for place in sorted(places)))
    return ResolvedAccess(kind, targets, None, word.raw, word.text) if targets else None


def _targets(scope: Scope, word: Word, place: str) -> list[Target]:
    results = [place]
    lookups = _Lookups()
    is_open = False
    for component in word.text.strip("/").split("/"):
        is_open = is_open or bool(_GLOBS & set(component))
        if is_open and component not in ("", ".", ".."):
            results = _following(scope, results, component, lookups)
        else:
            results = [f"{one}/{component}" for one in results]
    targets = (resolve_literal(word.raw, one, base="/", files=scope.files) for one in results)
    return [target for target in targets if target is not None]


class _Lookups(Struct):
    """How many names were looked at for one pattern."""

    count: int = 0


def _following(scope: Scope, folders: list[str], component: str, lookups: _Lookups) -> list[str]:
    """Return what a component expands to in each of the directories, until that is too much."""
    pattern = component.translate(_UNMARK)
    following: list[str] = []
    for folder in folders:
        target = resolve_literal(folder, folder, base="/", files=scope.files)
        entries = (scope.files.entries(target.real) if target is not None else None) or ()
        lookups.count += len(entries)
        if lookups.count > MAX_LOOKED_UP:
            break
        names = _fitting(pattern, entries) if _GLOBS & set(component) else (component,)
        following.extend(f"{folder}/{name}" for name in names if name in entries)
    return following


def _fitting(pattern: str, entries: Collection[str]) -> list[str]:
    """Return the entries that an unquoted pattern reaches: hidden ones behind a dot of its own."""
    pattern = without_brackets(pattern)
    if len(pattern) > _LONGEST_PATTERN:
        pattern = "*"
    return [
        entry
        for entry in entries
        if (pattern.startswith(".") or not entry.startswith("."))
        and fnmatch.fnmatchcase(entry, pattern)
    ]
