"""One file access of a command, and helpers to list several."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache, partial

from msgspec import Struct

from permissions.shell.syntax import Word


class AccessKind(Enum):
    """What happens to the file."""

    READ = "read"
    WRITE = "write"
    INTO = "into"
    """Written if the directory before its last name exists: a copy keeps its name in it."""
    REMOVE = "remove"
    """Deleted or moved away, with everything below it."""
    CHANGE_DIR = "cd"
    PLACE = "place"
    """A directory in which a program changes files of its own choice (git's work tree)."""
    MENTIONED = "mention"
    """Passed to a program that may read it: only rules about paths apply."""
    SENT = "send"
    """Read by a program that sends it to another machine, which no command rule permits."""
    MOUNTED = "mount"
    """A directory that a container may change."""

    __hash__ = object.__hash__


class Access(Struct, frozen=True):
    """One file that a command touches."""

    kind: AccessKind
    path: Word


HERE = Word(".", ".")


@cache
def names(text: str) -> frozenset[str]:
    """Return the words of a text that is a literal in the code."""
    return frozenset(text.split())


def each(kind: AccessKind, words: Sequence[Word]) -> list[Access]:
    """Return one access per word."""
    return list(map(partial(Access, kind), words))


def attached_values(words: Sequence[Word], names: frozenset[str]) -> list[Word]:
    """Return values of options that take theirs attached, after `=`, or in the next word."""
    values: list[Word] = []
    for position, word in enumerate(words if names else ()):
        text = word.plain
        name, equals, _ = text.partition("=")
        if text in names or (not equals and _begins_one(name, names)):
            values.extend(words[position + 1 : position + 2])
            continue
        if equals and (name in names or _begins_one(name, names)):
            values.append(Word(word.raw, word.text[len(name) + 1 :], word.splits))
            if name not in names:
                continue
        if len(text) > 2 and text[:2] in names and not (equals and name == text[:2]):
            values.append(Word(word.raw, word.text[2:], word.splits))
    return values


def _begins_one(name: str, names: frozenset[str]) -> bool:
    """Whether it is an abbreviated long option, which many programs accept."""
    is_short = name not in names and len(name) > 4 and name.startswith("--")
    return is_short and any(one.startswith(name) for one in names)
