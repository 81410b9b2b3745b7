"""Where the words of a shell command lead: the files behind each access, patterns followed."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

from msgspec import Struct

from permissions.base.text.star_pattern import UNKNOWN, without_brackets
from permissions.matching.match_tool import Call
from permissions.paths.protected_paths import ALL_NAMES
from permissions.paths.resolve import Target, resolve_literal
from permissions.scope.scope import Floor, Scope, strictest_floor
from permissions.shell.access import AccessKind
from permissions.shell.flow.working_directories import UNKNOWN_FOLDER, Folders
from permissions.shell.syntax import GLOB_MARKS, HOME_MARK, PIPE_MARK, Word

MAX_GLOB_TARGETS = 200
"""Files that one pattern may stand for; beyond it the target counts as unresolvable."""

_LONGEST_NAME = 255
"""Characters, on every system. To read a longer pattern can take `fnmatch` seconds."""

_FREE_WRITES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_FREE_READS = _FREE_WRITES | {"/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom", "-"}
_GLOBS = frozenset(GLOB_MARKS.values())
_UNMARK = str.maketrans({mark: character for character, mark in GLOB_MARKS.items()})


class ResolvedAccess(Struct, frozen=True):
    """One access with where it leads."""

    kind: AccessKind
    targets: tuple[Target, ...]
    floor: Floor | None
    written: str
    text: str
    """Like `written`, quotes removed."""

    def calls(self) -> list[Call]:
        """Return the access as calls of the tools whose rules govern it.

        One without a target where that is not known: rules about a whole tool are about it still.
        """
        tool = _TOOLS.get(self.kind)
        if tool is None:
            return []
        targets = self.targets if self.kind in _WITH_TARGET else self.targets or (None,)
        takes_tree = self.kind is _REMOVE
        return [Call(tool, {}, target, takes_tree=takes_tree) for target in targets]


_REMOVE = AccessKind.REMOVE
_TOOLS = {
    AccessKind.READ: "Read",
    AccessKind.MENTIONED: "Read",
    AccessKind.CHANGE_DIR: "Cd",
    AccessKind.WRITE: "Edit",
    AccessKind.REMOVE: "Edit",
    AccessKind.LENT: "Edit",
}
_WITH_TARGET = frozenset({AccessKind.MENTIONED, AccessKind.LENT})
"""Rules are about these only where it is known which file is meant."""


def resolve_access(
    scope: Scope, kind: AccessKind, word: Word, folders: Folders
) -> ResolvedAccess | None:
    """Resolve one access; None when there is nothing to judge (devices, pipes)."""
    if kind is _INTO:
        return _into(scope, word, folders)
    text = word.plain
    is_read = kind in _READING
    if text in (_FREE_READS if is_read else _FREE_WRITES) and not word.has_glob:
        return None
    if PIPE_MARK in word.text and is_read:
        return None
    check = _CHECKS[kind]
    targets = _targets(scope, word, folders, is_read=is_read)
    if targets is not None:
        floor = strictest_floor([check(scope, target, word.raw) for target in targets])
        return ResolvedAccess(kind, targets, floor, word.raw, word.text)
    guessed = None
    known = folders - {UNKNOWN_FOLDER}
    if known and (word.guess or known != folders):
        # A likely place may make the answer stricter than an unknown one, never looser.
        likely = Word(word.raw, word.guess) if word.guess else word
        guessed = _targets(scope, likely, known, is_read=is_read)
    floors = [check(scope, one, word.raw) for one in (None, *(guessed or ()))]
    return ResolvedAccess(kind, guessed or (), strictest_floor(floors), word.raw, word.text)


def _into(scope: Scope, word: Word, folders: Folders) -> ResolvedAccess | None:
    """Resolve a copy that keeps its name: a write where the folder is one, else nothing."""
    text = word.text.rpartition("/")[0] or "/"
    parents = _targets(scope, Word(word.raw, text), folders, is_read=False)
    if not any(scope.files.is_dir(parent.real) for parent in parents or ()):
        return None
    return resolve_access(scope, AccessKind.WRITE, word, folders)


def _free(_scope: Scope, _target: Target | None, _written: str) -> Floor | None:
    return None


_INTO = AccessKind.INTO
_READING = frozenset({AccessKind.READ, AccessKind.CHANGE_DIR, AccessKind.MENTIONED})
_CHECKS: dict[AccessKind, Callable[[Scope, Target | None, str], Floor | None]] = {
    AccessKind.READ: Scope.check_read,
    AccessKind.CHANGE_DIR: Scope.check_read,
    AccessKind.MENTIONED: _free,
    AccessKind.WRITE: Scope.check_write,
    AccessKind.INTO: Scope.check_write,
    AccessKind.PLACE: Scope.check_place,
    AccessKind.LENT: Scope.check_lent,
    AccessKind.REMOVE: Scope.check_remove,
}


def _targets(
    scope: Scope, word: Word, folders: Folders, *, is_read: bool
) -> tuple[Target, ...] | None:
    """Return every file that the word may name; None when that cannot be known."""
    if is_read and word.choices:
        # A loop variable: each word of its list counts.
        found_all: list[Target] = []
        for choice in word.choices:
            one = _targets(scope, Word(word.raw, choice), folders, is_read=True)
            if one is None:
                return None
            found_all.extend(one)
        return tuple(found_all)
    text = word.text
    if word.splits or UNKNOWN in text or PIPE_MARK in text or not text:
        return None if text or word.splits else ()
    if text[0] == HOME_MARK:
        text = f"{scope.home}{text[1:]}"
    places = {"/"} if text.startswith("/") else folders
    if UNKNOWN_FOLDER in places:
        return None
    found: list[Target] = []
    has_glob = not text.isascii() and not _GLOBS.isdisjoint(text)
    for place in sorted(places):
        if has_glob:
            expanded = _expand(scope, text, place, is_read=is_read)
            if expanded is None:
                return None
            found.extend(expanded)
        else:
            target = resolve_literal(word.raw, text, base=place, files=scope.files)
            if target is None:
                return None
            found.append(target)
    return tuple(found)


def _expand(scope: Scope, text: str, place: str, *, is_read: bool) -> list[Target] | None:
    """Return the files that a pattern stands for now, and the name it keeps without a match.

    Only a pattern in the last component can be followed; a read may have more below a known folder.
    """
    folder, slash, name = text.rstrip("/").rpartition("/")
    if _GLOBS & set(folder):
        if not is_read:
            return None
        first = next(at for at, character in enumerate(text) if character in _GLOBS)
        fixed = text[:first].rpartition("/")[0]
        if ".." in text[len(fixed) :].split("/"):
            return None
        target = resolve_literal(
            text.translate(_UNMARK),
            fixed or "." if not slash or fixed else "/",
            base=place,
            files=scope.files,
        )
        return None if target is None else [target]
    where = (folder or "/") if slash else "."
    parent = resolve_literal(text, where, base=place, files=scope.files)
    if parent is None:
        return None
    spelled = name.translate(_UNMARK)
    pattern = without_brackets(spelled)
    is_endless = len(pattern) > _LONGEST_NAME
    # Names that exist are judged one by one below; a hidden name may come to exist.
    if (
        not is_read
        and pattern.startswith(".")
        and (is_endless or any(fnmatch.fnmatchcase(one, pattern) for one in (*ALL_NAMES, "..")))
    ):
        return None
    if not is_read and not pattern.strip("*") and parent.real in scope.roots:
        # Everything in a working directory: as good as the directory itself.
        return None
    entries = scope.files.entries(parent.real)
    if entries is None:
        return None
    # What is endless also stands for itself, a name that no file in a folder can have.
    matching = [
        entry
        for entry in (() if is_endless else entries)
        if fnmatch.fnmatchcase(entry, pattern)
        and (pattern.startswith(".") or not entry.startswith("."))
    ]
    if len(matching) > MAX_GLOB_TARGETS:
        return None
    found: list[Target] = []
    for entry in [*matching, spelled]:
        target = resolve_literal(
            text.translate(_UNMARK),
            f"{parent.lexical.rstrip('/')}/{entry}",
            base=place,
            files=scope.files,
        )
        if target is None:
            return None
        found.append(target)
    return found
