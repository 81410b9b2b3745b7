"""Patterns whose only wildcard is `*`, matched in linear time."""

from __future__ import annotations

from msgspec import Struct

UNKNOWN = "\ue000"
"""Represents a piece of a text whose value is not known yet."""


def without_brackets(pattern: str) -> str:
    """Return an `fnmatch` pattern that matches all that a shell's pattern matches, and maybe more.

    `[^x]`, `[[:lower:]]` and quotes in brackets have another meaning for `fnmatch` than for the
    shell.
    """
    first, last = pattern.find("["), pattern.rfind("]")
    return pattern if first < 0 or last < first else f"{pattern[:first]}*{pattern[last + 1 :]}"


class StarPattern(Struct, frozen=True):
    """Literal chunks with a wildcard between each two; one chunk means an exact text."""

    chunks: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the pattern has no wildcard."""
        return len(self.chunks) == 1

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches; a wildcard matches any characters, also none."""
        first, last = self.chunks[0], self.chunks[-1]
        if len(self.chunks) == 1:
            return text == first
        if len(text) < len(first) + len(last):
            return False
        if not text.startswith(first) or not text.endswith(last):
            return False
        # The leftmost place for each chunk leaves the most room for the rest, so no backtracking.
        position, end = len(first), len(text) - len(last)
        for chunk in self.chunks[1:-1]:
            start = text.find(chunk, position, end)
            if start < 0:
                return False
            position = start + len(chunk)
        return True

    def may_match(self, text: str) -> bool:
        """Return whether `text` could match for some value of its `UNKNOWN` pieces; True in
        doubt."""
        head, unknown, rest = text.partition(UNKNOWN)
        if not unknown:
            return self.matches(text)
        tail = rest.rpartition(UNKNOWN)[2]
        first, last = self.chunks[0], self.chunks[-1]
        starts = head.startswith(first) or first.startswith(head)
        ends = tail.endswith(last) or last.endswith(tail)
        if len(self.chunks) == 1:
            return first.startswith(head) and first.endswith(tail)
        return starts and ends

    def subsumes(self, other: StarPattern) -> bool:
        """Return whether every text that matches `other` matches this pattern, too."""
        # A character that no literal can contain represents any text in the other pattern.
        return self.matches("\x00".join(other.chunks))


def star_pattern(text: str) -> StarPattern:
    """Read `text` as a pattern; a backslash before `*` or `\\` escapes it."""
    chunks: list[str] = [""]
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and text[position + 1 : position + 2] in ("*", "\\"):
            chunks[-1] += text[position + 1]
            position += 2
            continue
        if character == "*":
            # Neighboring stars are one wildcard.
            if len(chunks) == 1 or chunks[-1] != "":
                chunks.append("")
        else:
            chunks[-1] += character
        position += 1
    return StarPattern(tuple(chunks))
