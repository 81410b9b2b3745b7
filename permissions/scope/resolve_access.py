"""Resolves the words of a shell command to the files of each access, patterns expanded."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.text.star_pattern import UNKNOWN, without_brackets
from permissions.matching.match_tool import RuleSubject
from permissions.paths.protected_paths import ALL_NAMES
from permissions.paths.resolve import Target, resolve_literal
from permissions.scope.scope import Floor, Scope, strictest_floor
from permissions.shell.access import AccessKind
from permissions.shell.flow.working_directories import UNKNOWN_DIRECTORY, Directories
from permissions.shell.syntax import GLOB_MARKS, HOME_MARK, PIPE_MARK, Word

MAX_GLOB_TARGETS = 200
"""Files that one pattern may expand to; beyond it the target counts as unresolvable."""

_LONGEST_NAME = 255
"""In characters, on every system. `fnmatch` may need seconds for a longer pattern."""

_FREE_WRITES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_FREE_READS = _FREE_WRITES | {"/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom", "-"}
_GLOBS = frozenset(GLOB_MARKS.values())
_UNMARK = str.maketrans({mark: character for character, mark in GLOB_MARKS.items()})


class ResolvedAccess(Struct, frozen=True):
    """One access with its targets."""

    kind: AccessKind
    targets: tuple[Target, ...]
    floor: Floor | None
    raw_text: str
    text: str
    """Like `raw_text`, quotes removed."""

    def calls(self) -> list[RuleSubject]:
        """Return the access as calls of the tools whose rules govern it.

        If the target is unknown, returns a call without one, which rules for a whole tool still
        match.
        """
        tool = _TOOLS.get(self.kind)
        if tool is None:
            return []
        targets = self.targets if self.kind in _WITH_TARGET else self.targets or (None,)
        takes_tree = self.kind is _REMOVE
        return [
            RuleSubject(tool, {}, target, takes_tree=takes_tree, is_access=True)
            for target in targets
        ]


_REMOVE = AccessKind.REMOVE
_TOOLS = {
    AccessKind.READ: "Read",
    AccessKind.MENTIONED: "Read",
    AccessKind.CHANGE_DIR: "Cd",
    AccessKind.WRITE: "Edit",
    AccessKind.REMOVE: "Edit",
    AccessKind.MOUNTED: "Edit",
}
_WITH_TARGET = frozenset({AccessKind.MENTIONED, AccessKind.MOUNTED})
"""Kinds that rules match only if the file is known."""


def resolve_access(
    scope: Scope, kind: AccessKind, word: Word, directories: Directories
) -> ResolvedAccess | None:
    """Resolve one access; None when there is nothing to check (devices, pipes)."""
    if kind is _INTO:
        return _resolve_copy(scope, word, directories)
    is_read = kind in _READING
    if _is_device_or_pipe(word, is_read=is_read):
        return None
    targets = _targets(scope, word, directories, is_read=is_read)
    is_known = targets is not None
    if targets is None:
        targets = _likely_targets(scope, word, directories, is_read=is_read)
    floors = [_CHECKS[kind](scope, target, word.raw) for target in targets]
    if not is_known:
        floors.insert(0, _CHECKS[kind](scope, None, word.raw))
    return ResolvedAccess(kind, targets, strictest_floor(floors), word.raw, word.text)


def _is_device_or_pipe(word: Word, *, is_read: bool) -> bool:
    if is_read and PIPE_MARK in word.text:
        return True
    return word.plain in (_FREE_READS if is_read else _FREE_WRITES) and not word.has_glob


def _likely_targets(
    scope: Scope, word: Word, directories: Directories, *, is_read: bool
) -> tuple[Target, ...]:
    """Return the probable targets of a word, which may make the answer stricter, never looser."""
    known_directories = directories - {UNKNOWN_DIRECTORY}
    if not known_directories or not (word.guess or known_directories != directories):
        return ()
    likely = Word(word.raw, word.guess) if word.guess else word
    return _targets(scope, likely, known_directories, is_read=is_read) or ()


def _resolve_copy(scope: Scope, word: Word, directories: Directories) -> ResolvedAccess | None:
    """Resolve a copy that keeps its name: a write if the directory exists, else None."""
    text = word.text.rpartition("/")[0] or "/"
    parents = _targets(scope, Word(word.raw, text), directories, is_read=False)
    if not any(scope.files.is_dir(parent.real) for parent in parents or ()):
        return None
    return resolve_access(scope, AccessKind.WRITE, word, directories)


def _check_sent(scope: Scope, target: Target | None, path_text: str) -> Floor | None:
    floor = scope.check_read(target, path_text) if target is not None else None
    if floor is None:
        return None
    return replace(floor, message=f"sends what it {floor.message}", lifted_by_allow=False)


def _free(_scope: Scope, _target: Target | None, _path_text: str) -> Floor | None:
    return None


_INTO = AccessKind.INTO
_READING = frozenset(
    {AccessKind.READ, AccessKind.CHANGE_DIR, AccessKind.MENTIONED, AccessKind.SENT}
)
_CHECKS: dict[AccessKind, Callable[[Scope, Target | None, str], Floor | None]] = {
    AccessKind.READ: Scope.check_read,
    AccessKind.CHANGE_DIR: Scope.check_read,
    AccessKind.MENTIONED: _free,
    AccessKind.SENT: _check_sent,
    AccessKind.WRITE: Scope.check_write,
    AccessKind.INTO: Scope.check_write,
    AccessKind.PLACE: Scope.check_place,
    AccessKind.MOUNTED: Scope.check_mounted,
    AccessKind.REMOVE: Scope.check_remove,
}


def _targets(
    scope: Scope, word: Word, directories: Directories, *, is_read: bool
) -> tuple[Target, ...] | None:
    """Return every file that the word may name; None when that cannot be known."""
    if is_read and word.choices:
        # A loop variable: each word of its list counts.
        return _join_targets(
            _targets(scope, Word(word.raw, choice), directories, is_read=True)
            for choice in word.choices
        )
    return _word_targets(scope, word, directories, is_read=is_read)


def _word_targets(
    scope: Scope, word: Word, directories: Directories, *, is_read: bool
) -> tuple[Target, ...] | None:
    text = word.text
    if not text and not word.splits:
        return ()
    if word.splits or any(mark in text for mark in (UNKNOWN, PIPE_MARK)):
        return None
    if text[0] == HOME_MARK:
        text = f"{scope.home}{text[1:]}"
    places = {"/"} if text.startswith("/") else directories
    if UNKNOWN_DIRECTORY in places:
        return None
    if _has_pattern(text):
        return _join_targets(
            _expand(scope, text, place, is_read=is_read) for place in sorted(places)
        )
    return _join_targets(_resolve_all(scope, word.raw, [text], place) for place in sorted(places))


def _has_pattern(text: str) -> bool:
    return not text.isascii() and not _GLOBS.isdisjoint(text)


def _join_targets(parts: Iterable[Sequence[Target] | None]) -> tuple[Target, ...] | None:
    """Return all targets; None when one part is not known."""
    results: list[Target] = []
    for part in parts:
        if part is None:
            return None
        results.extend(part)
    return tuple(results)


def _resolve_all(
    scope: Scope, path_text: str, paths: Sequence[str], place: str
) -> list[Target] | None:
    """Resolve paths of one word; None when one cannot be resolved."""
    results: list[Target] = []
    for path in paths:
        target = resolve_literal(path_text, path, base=place, files=scope.files)
        if target is None:
            return None
        results.append(target)
    return results


def _expand(scope: Scope, text: str, place: str, *, is_read: bool) -> list[Target] | None:
    """Return the files that a pattern expands to now, and its literal name, which it means if none
    match.

    Only a pattern in the last component is expanded; a read may also have others.
    """
    directory, slash, name = text.rstrip("/").rpartition("/")
    if _GLOBS & set(directory):
        return _expand_directories(scope, text, place, slash) if is_read else None
    where = (directory or "/") if slash else "."
    parent = resolve_literal(text, where, base=place, files=scope.files)
    if parent is None:
        return None
    literal_name = name.translate(_UNMARK)
    pattern = without_brackets(literal_name)
    if not is_read and _covers_protected(scope, pattern, parent):
        return None
    matching = _matching(scope, parent, pattern)
    if matching is None:
        return None
    paths = [f"{parent.lexical.rstrip('/')}/{entry}" for entry in (*matching, literal_name)]
    return _resolve_all(scope, text.translate(_UNMARK), paths, place)


def _expand_directories(scope: Scope, text: str, place: str, slash: str) -> list[Target] | None:
    """Return the literal directory below which a pattern in directory names reads."""
    first = next(index for index, character in enumerate(text) if character in _GLOBS)
    directory = text[:first].rpartition("/")[0]
    if ".." in text[len(directory) :].split("/"):
        return None
    path = directory or "." if not slash or directory else "/"
    return _resolve_all(scope, text.translate(_UNMARK), [path], place)


def _covers_protected(scope: Scope, pattern: str, parent: Target) -> bool:
    """Whether a write to the pattern may reach more than the existing names, which are checked."""
    if not pattern.strip("*") and parent.real in scope.roots:
        # Everything in a working directory is equivalent to the directory itself.
        return True
    if not pattern.startswith("."):
        return False
    # A hidden name may be created later.
    return len(pattern) > _LONGEST_NAME or any(
        fnmatch.fnmatchcase(one, pattern) for one in (*ALL_NAMES, "..")
    )


def _matching(scope: Scope, parent: Target, pattern: str) -> list[str] | None:
    """Return the entries that a pattern expands to; None when there are too many."""
    entries = scope.files.entries(parent.real)
    if entries is None:
        return None
    if len(pattern) > _LONGEST_NAME:
        # It expands to itself, a name that no file in a directory can have.
        return []
    takes_hidden = pattern.startswith(".")
    matching = [
        entry
        for entry in entries
        if fnmatch.fnmatchcase(entry, pattern) and (takes_hidden or not entry.startswith("."))
    ]
    return None if len(matching) > MAX_GLOB_TARGETS else matching


MAX_LOOKED_UP = 2_000
"""Maximum number of names that are compared with patterns; further files are not found."""

_LONGEST_PATTERN = 255
"""In characters; a longer pattern is slow to parse, and counts as matching every name."""


def behind_pattern(
    scope: Scope, kind: AccessKind, word: Word, directories: Directories
) -> ResolvedAccess | None:
    """Return an access with the files that its pattern expands to; None when it has none."""
    if word.text.isascii() or not _GLOBS & set(word.text.rpartition("/")[0]):
        return None
    if UNKNOWN in word.text or PIPE_MARK in word.text:
        return None
    places = {"/"} if word.text.startswith("/") else directories - {UNKNOWN_DIRECTORY}
    target_lists = (_pattern_targets(scope, word, place) for place in sorted(places))
    targets = tuple(chain.from_iterable(target_lists))
    return ResolvedAccess(kind, targets, None, word.raw, word.text) if targets else None


def _pattern_targets(scope: Scope, word: Word, place: str) -> list[Target]:
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
    """The number of names that were compared with one pattern."""

    count: int = 0


def _following(
    scope: Scope, directories: list[str], component: str, lookups: _Lookups
) -> list[str]:
    """Return the expansions of a component in the directories, up to `MAX_LOOKED_UP` names."""
    pattern = component.translate(_UNMARK)
    following: list[str] = []
    for directory in directories:
        target = resolve_literal(directory, directory, base="/", files=scope.files)
        entries = (scope.files.entries(target.real) if target is not None else None) or ()
        lookups.count += len(entries)
        if lookups.count > MAX_LOOKED_UP:
            break
        names = _fitting(pattern, entries) if _GLOBS & set(component) else (component,)
        following.extend(f"{directory}/{name}" for name in names if name in entries)
    return following


def _fitting(pattern: str, entries: Collection[str]) -> list[str]:
    """Return the entries that an unquoted pattern matches: hidden ones only if it begins with a
    dot."""
    pattern = without_brackets(pattern)
    if len(pattern) > _LONGEST_PATTERN:
        pattern = "*"
    return [
        entry
        for entry in entries
        if (pattern.startswith(".") or not entry.startswith("."))
        and fnmatch.fnmatchcase(entry, pattern)
    ]
