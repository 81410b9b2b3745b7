"""Commands that need a look at the disk of their own.

Build tools that run elsewhere, repositories inside the project, `find` that deletes, and trees that
are copied over others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from msgspec import Struct

from permissions.base.text.star_pattern import without_brackets
from permissions.decision import Behavior, Reason
from permissions.paths.protected_paths import OWN_DIRS, OWN_FILES
from permissions.paths.resolve import Target, resolve_literal
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Floor, Scope, Scoped, strictest_floor
from permissions.shell.access import HERE, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END
from permissions.shell.effects.file_accesses import created_by
from permissions.shell.flow.working_directories import UNKNOWN_DIRECTORY
from permissions.shell.program import Creates
from permissions.shell.programs.find import changes_found, exec_spans, roots_of
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Word


def build_directory_floor(scoped: Scoped, facts: CommandFacts) -> Floor | None:
    """Ask when a build tool runs where `cd` led out of the working directories."""
    for one in facts.with_inner():
        program = next(
            (form.head for form in one.deny_forms if program_named(form.head).builds), None
        )
        if program is None or one.is_read_only:
            continue
        scope = scoped.scope
        if one.directories == {scope.launch}:
            continue
        for directory in sorted(one.directories - {UNKNOWN_DIRECTORY}):
            target = scope.resolve(directory)
            if target is None or not scope.contains(target):
                return Floor(
                    Behavior.ASK,
                    Reason.SCOPE_BOUNDS_VIOLATION,
                    f"runs {program} in {directory}, outside the working directories",
                )
    return None


_BARE = frozenset({"HEAD", "objects", "refs"})


def in_nested_repository(scope: Scope, facts: CommandFacts) -> bool:
    """Would git read the settings of a repository below a working directory?"""
    if not any(form.head == "git" for form in facts.deny_forms[:1]):
        return False
    places = [one.path for one in facts.accesses if one.kind is AccessKind.READ]
    if not places and facts.directories == {scope.launch}:
        return False
    return any(
        _is_repository(scope, directory)
        for place in (HERE, *places)
        for target in _targets(scope, facts, AccessKind.READ, place)
        for directory in _below_root(scope, target.real)
    )


def _below_root(scope: Scope, directory: str) -> Iterator[str]:
    """Yield the directory and those above it, up to the working directory, which is left out."""
    while directory not in scope.roots and directory.count("/") > 1:
        yield directory
        directory = directory.rpartition("/")[0]


def _is_repository(scope: Scope, directory: str) -> bool:
    files = scope.files
    names = files.entries(directory)
    if names is None:
        return True
    if ".git" in names:
        # A submodule's settings are in the outer repository.
        is_own = files.is_dir(f"{directory}/.git") or not any(
            files.is_dir(f"{root}/.git/modules") or files.is_dir(f"{root}/.git/worktrees")
            for root in scope.roots
        )
        if is_own:
            return True
    return _BARE.issubset(names)


_OWN = OWN_DIRS | OWN_FILES
_NAMES = frozenset({"-name", "-iname"})
_PATHS = frozenset({"-path", "-ipath", "-wholename", "-iwholename"})
_PATTERNS = frozenset({"-regex", "-iregex"})
_NOT = frozenset({"!", "-not"})
_OR = frozenset({"-o", "-or", ","})


class _Candidate(Struct, frozen=True):
    """A file that find may come upon."""

    path: str
    """As find spells it, from the root that was named."""
    is_directory: bool
    depth: int


def find_target_floor(scoped: Scoped, facts: CommandFacts) -> Floor | None:
    """Return the floor when find changes the agent's own settings."""
    form = next((form for form in facts.deny_forms if form.head == "find" and form.joined), None)
    if form is None:
        return None
    words = [Word(text, text) for text in form.joined.split(WORD_END)[1:]]
    if not changes_found(words):
        return None
    scope = scoped.scope
    for directory, root in _starts(scope, words, facts):
        for name in _own_names(scope, directory):
            if any(_is_met(words, one) for one in _candidates(scope, directory, root, name)):
                path = f"{directory}/{name}"
                own = resolve_literal(path, path, base="/", files=scope.files)
                return scope.check_write(own, path)
    return None


def _starts(scope: Scope, words: Sequence[Word], facts: CommandFacts) -> Iterator[tuple[str, Word]]:
    """Yield each directory where find starts, with the word that names it."""
    for root in roots_of(words) or [Word(".", ".")]:
        access = resolve_access(scope, AccessKind.READ, root, facts.directories)
        for target in access.targets if access else ():
            yield target.real, root


def _own_names(scope: Scope, directory: str) -> list[str]:
    return [name for name in scope.files.entries(directory) or () if name.casefold() in _OWN]


def _candidates(scope: Scope, directory: str, root: Word, name: str) -> Iterator[_Candidate]:
    path = f"{root.text}/{name}"
    is_directory = scope.files.is_dir(f"{directory}/{name}")
    yield _Candidate(path, is_directory, 1)
    if is_directory and not scope.files.is_link(f"{directory}/{name}"):
        for inner in scope.files.entries(f"{directory}/{name}") or ():
            is_inner = scope.files.is_dir(f"{directory}/{name}/{inner}")
            yield _Candidate(f"{path}/{inner}", is_inner, 2)


def _is_met(words: Sequence[Word], one: _Candidate) -> bool:
    """Do the tests let the file through, as far as they are about its name and kind?"""
    texts = [word.plain for word in words]
    names = one.path.split("/")
    tests = _tests(words, texts)
    if "-empty" in texts or any(_is_too_deep(text, value, one) for _, text, value in tests):
        return False
    if "-prune" in texts and any(text.rstrip("/*").rpartition("/")[2] in names for text in texts):
        return False
    results = list(_results(tests, texts, one))
    return (not results or any(results)) if _OR.intersection(texts) else all(results)


def _tests(words: Sequence[Word], texts: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return each word with its place and the word behind it, those of commands left out."""
    commands = {place for start, end in exec_spans(words) for place in range(start, end + 1)}
    return [
        (position, text, value)
        for position, (text, value) in enumerate(pairwise(texts))
        if position not in commands
    ]


def _is_too_deep(text: str, value: str, one: _Candidate) -> bool:
    return text == "-maxdepth" and value.isdecimal() and one.depth > int(value)


def _results(
    tests: Sequence[tuple[int, str, str]], texts: Sequence[str], one: _Candidate
) -> Iterator[bool]:
    """Yield the result of each test about names and kinds."""
    for position, text, value in tests:
        is_denied = position > 0 and texts[position - 1] in _NOT
        is_plain_name = text in _NAMES | _PATHS and not is_denied
        result = _answer(text, without_brackets(value) if is_plain_name else value, one)
        if result is not None:
            yield result is not is_denied


def _answer(test: str, value: str, one: _Candidate) -> bool | None:
    """Return the result of one test on a file; None for one that is about something else."""
    ignores_case = test.startswith("-i")
    path = one.path.casefold() if ignores_case else one.path
    value = value.casefold() if ignores_case else value
    if test in _NAMES:
        return fnmatchcase(path.rpartition("/")[2], value)
    if test in _PATHS:
        return fnmatchcase(path, value)
    if test in _PATTERNS:
        return _fits(value, path)
    if test == "-type":
        return ("d" if one.is_directory else "f") in value
    return None


def _fits(pattern: str, path: str) -> bool:
    """Could an expression be about the path? It is not run, as it may take for ever."""
    named = set(_WORD.findall(pattern))
    return not named or not named.isdisjoint(_WORD.findall(path))


_WORD = re.compile(r"\w+")


MAX_MERGED = 1_000
"""Files that are looked at; a user is asked about more."""

MERGERS = frozenset({"cp", "rsync"})
"""Programs that may do so."""


def tree_copy_floor(scope: Scope, facts: CommandFacts) -> Floor | None:
    """Return the floor for the files that a recursive copy would replace."""
    form = next((form for form in facts.deny_forms if form.head in MERGERS), None)
    if form is None or created_by(form.head, form.joined) is not Creates.COPY:
        return None
    floors: list[Floor | None] = []
    for source, directory in _pairs(scope, facts, whole="T" in _letters(form.spaced)):
        if scope.files.is_dir(source) and scope.files.is_dir(directory):
            floors.append(_merged(scope, source, directory))
    return strictest_floor(floors)


def _letters(spaced: str) -> str:
    options = [word for word in spaced.split() if word.startswith("-")]
    return "".join("T" if word == "--no-target-directory" else word for word in options)


def _pairs(scope: Scope, facts: CommandFacts, *, whole: bool) -> list[tuple[str, str]]:
    """Return each directory that is copied with the one that its files end up in."""
    places = [
        target.lexical
        for access in facts.accesses
        if access.kind is AccessKind.WRITE
        for target in _targets(scope, facts, access.kind, access.path)
    ]
    results: list[tuple[str, str]] = []
    for access in facts.accesses:
        if access.kind is not AccessKind.READ:
            continue
        text = access.path.text
        has_source_name = not (whole or text.endswith(("/.", "/")) or text == ".")
        for source in _targets(scope, facts, access.kind, access.path):
            name = source.lexical.rpartition("/")[2]
            results.extend(
                (source.real, f"{place}/{name}" if has_source_name else place) for place in places
            )
    return results


def _targets(scope: Scope, facts: CommandFacts, kind: AccessKind, path: Word) -> tuple[Target, ...]:
    touch = resolve_access(scope, kind, path, facts.directories)
    return touch.targets if touch else ()


def _merged(scope: Scope, source: str, directory: str) -> Floor | None:
    files = scope.files
    floors: list[Floor | None] = []
    seen = 0
    left = [(source, directory)]
    while left:
        one, other = left.pop()
        names = files.entries(one)
        seen += len(names or ())
        if names is None or seen > MAX_MERGED:
            message = f"writes more files below {directory} than can be looked at"
            return Floor(Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION, message)
        for name in names:
            written = f"{other}/{name}"
            target = resolve_literal(written, written, base="/", files=files)
            floors.append(scope.check_write(target, written))
            if files.is_dir(f"{one}/{name}") and files.is_dir(written):
                left.append((f"{one}/{name}", written))
    return strictest_floor(floors)
