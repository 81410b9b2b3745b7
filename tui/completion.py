"""What could be meant by the word at the cursor: a command after `/`, a file after `@`. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_FILES: Final = 20_000
_SKIPPED: Final = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache"}
    | {".ruff_cache", ".pytest_cache", ".tox", "dist", "build", "target", ".idea"}
)
_SHOWN: Final = 30


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to offer."""

    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """The offers for one word of the prompt."""

    start: int
    """Where the word begins, its `/` or `@` included; in characters."""
    end: int
    candidates: tuple[Candidate, ...]
    is_command: bool

    def applied(self, text: str, index: int) -> tuple[str, int]:
        """Return the text with the word replaced by an offer, and the new cursor."""
        sign = "/" if self.is_command else "@"
        label = self.candidates[index].label
        tail = "" if label.endswith("/") else " "
        word = sign + label + tail
        rest = text[self.end :]
        return text[: self.start] + word + rest.removeprefix(" "), self.start + len(word)


def complete(
    text: str, cursor: int, commands: Sequence[Candidate], files: Sequence[str]
) -> Completion | None:
    """Return the offers for the word before the cursor; None when it is no command and no file."""
    start = cursor
    while start and not text[start - 1].isspace():
        start -= 1
    word = text[start:cursor]
    if word.startswith("/") and start == 0 and "/" not in word[1:]:
        scored = [(match_score(word[1:], c.label), c.label, c) for c in commands]
        found = [entry[2] for entry in sorted(scored, key=lambda e: e[:2]) if entry[0] >= 0]
        return _completion(start, cursor, found, is_command=True)
    if word.startswith("@"):
        ranks = [(match_score(word[1:], path), len(path), path) for path in files]
        paths = [Candidate(path) for score, _, path in sorted(ranks) if score >= 0]
        return _completion(start, cursor, paths, is_command=False)
    return None


def match_score(needle: str, text: str) -> int:
    """Return how far a text is from what was typed: 0 begins with it, -1 does not match at all."""
    needle, text = needle.casefold(), text.casefold()
    if not needle or text.startswith(needle):
        return 0
    name = text.rstrip("/").rsplit("/", 1)[-1]
    if name.startswith(needle):
        return 1
    if needle in name:
        return 2
    if needle in text:
        return 3
    position = -1
    gaps = 0
    for char in needle:
        found = text.find(char, position + 1)
        if found < 0:
            return -1
        gaps += found - position - 1
        position = found
    return 4 + gaps


def list_files(root: Path) -> list[str]:
    """Return files and folders below the root, relative, folders with a slash; bounded."""
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        prefix = os.path.relpath(folder, root)
        prefix = "" if prefix == "." else prefix + "/"
        found.extend(f"{prefix}{name}/" for name in folders)
        found.extend(prefix + name for name in sorted(names))
        if len(found) >= MAX_FILES:
            return [path for path in found[:MAX_FILES] if path.isprintable()]
    return [path for path in found if path.isprintable()]


def _completion(
    start: int, end: int, found: Iterable[Candidate], *, is_command: bool
) -> Completion | None:
    candidates = tuple(found)[:_SHOWN]
    return Completion(start, end, candidates, is_command) if candidates else None
