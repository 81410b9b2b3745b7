"""One file that a command touches, and small means to list several."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache

from msgspec import Struct

from permissions.shell.syntax import Word


class AccessKind(Enum):
    """What happens to the file."""

    READ = "read"
    WRITE = "write"
    INTO = "into"
    """Written if the folder in front of its last name is there: a copy keeps its name in it."""
    REMOVE = "remove"
    """Deleted or moved away, with everything below it."""
    CHANGE_DIR = "cd"
    PLACE = "place"
    """A folder in which a program changes files of its own choice (git's work tree)."""
    MENTIONED = "mention"
    """Handed to a tool that reads it: for rules about paths only."""
    LENT = "lend"
    """A folder that a container may change."""

    __hash__ = object.__hash__


class Access(Struct, frozen=True):
    """One file that a command touches."""

    kind: AccessKind
    path: Word


HERE = Word(".", ".")


@cache
def names(text: str) -> frozenset[str]:
    """Return the words of a text, which is one of those written out in the code."""
    return frozenset(text.split())


def each(kind: AccessKind, words: Sequence[Word]) -> list[Access]:
    """Return one access per word."""
    return [Access(kind, word) for word in words]


def attached_values(words: Sequence[Word], names: frozenset[str]) -> list[Word]:
    """Return values of options that take theirs attached, after `=`, or in the next word."""
    found: list[Word] = []
    if not names:
        return found
    for position, word in enumerate(words):
        text = word.plain
        if text.startswith("--") and len(text) > 4 and text not in names:
            # Many programs accept the beginning of a long option.
            begun, equals, _ = text.partition("=")
            if len(begun) > 4 and begun not in names and any(n.startswith(begun) for n in names):
                start = len(begun) + 1
                given = [Word(word.raw, word.text[start:], word.splits)] if equals else []
                found.extend(given or words[position + 1 : position + 2])
                continue
        if text in names:
            found.extend(words[position + 1 : position + 2])
            continue
        name, equals, _ = text.partition("=")
        if equals and name in names:
            found.append(Word(word.raw, word.text[len(name) + 1 :], word.splits))
        if len(text) > 2 and text[:2] in names and not (equals and name == text[:2]):
            found.append(Word(word.raw, word.text[2:], word.splits))
    return found
