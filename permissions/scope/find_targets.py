"""The agent's own settings among what `find` deletes or edits: `find . -type f -delete`.

Only what is plain to see is looked at: own directories and files that lie in a directory where find
starts, and the names in them, compared with the tests that are about names and kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from msgspec import Struct

from permissions.base.text.star_pattern import without_brackets
from permissions.paths.protected_paths import OWN_DIRS, OWN_FILES
from permissions.paths.resolve import resolve_literal
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Floor, Scope, Scoped
from permissions.shell.access import AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END
from permissions.shell.programs.find import changes_found, exec_spans, roots_of
from permissions.shell.syntax import Word

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
    is_folder: bool
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
    for folder, root in _starts(scope, words, facts):
        for name in _own_names(scope, folder):
            if any(_is_met(words, one) for one in _candidates(scope, folder, root, name)):
                path = f"{folder}/{name}"
                own = resolve_literal(path, path, base="/", files=scope.files)
                return scope.check_write(own, path)
    return None


def _starts(scope: Scope, words: Sequence[Word], facts: CommandFacts) -> Iterator[tuple[str, Word]]:
    """Yield each directory where find starts, with the word that names it."""
    for root in roots_of(words) or [Word(".", ".")]:
        access = resolve_access(scope, AccessKind.READ, root, facts.folders)
        for target in access.targets if access else ():
            yield target.real, root


def _own_names(scope: Scope, folder: str) -> list[str]:
    return [name for name in scope.files.entries(folder) or () if name.casefold() in _OWN]


def _candidates(scope: Scope, folder: str, root: Word, name: str) -> Iterator[_Candidate]:
    path = f"{root.text}/{name}"
    is_folder = scope.files.is_dir(f"{folder}/{name}")
    yield _Candidate(path, is_folder, 1)
    if is_folder and not scope.files.is_link(f"{folder}/{name}"):
        for inner in scope.files.entries(f"{folder}/{name}") or ():
            is_inner = scope.files.is_dir(f"{folder}/{name}/{inner}")
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
        return ("d" if one.is_folder else "f") in value
    return None


def _fits(pattern: str, path: str) -> bool:
    """Could an expression be about the path? It is not run, as it may take for ever."""
    named = set(_WORD.findall(pattern))
    return not named or not named.isdisjoint(_WORD.findall(path))


_WORD = re.compile(r"\w+")
