"""Candidates for the word at the cursor: commands after `/`, files after `@`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from agent.files.mention_text import mention_of, unquote
from permissions.base.text.late_pattern import compile_late

if TYPE_CHECKING:
    # For annotations only: commands are imported when the first `/` is typed.
    from agent.commands.command_registry import CommandRegistry

CompletionKind = Literal["command", "file", "shell", "argument"]

_SHOWN: Final = 30
_SHOWN_COMMANDS: Final = 8
_OPEN_QUOTE: Final = compile_late(r"(?:(?<=\s)|^)@\"(?:[^\"\\\n]|\\.)*$", re.MULTILINE)
_FAR: Final = 4
"""From this score on, the letters are only scattered in the name."""


class Candidate(Struct, frozen=True):
    """A completion candidate."""

    label: str
    detail: str = ""
    hint: str = ""
    """Hint about its arguments."""
    aliases: tuple[str, ...] = ()
    """Other names that find it."""


class Completion(Struct, frozen=True):
    """The candidates for one word of the prompt."""

    start: int
    """Start of the word in characters, including its `/`, `@` or `!`."""
    end: int
    candidates: tuple[Candidate, ...]
    kind: CompletionKind

    def apply_to(self, text: str, index: int) -> tuple[str, int]:
        """Return the text with the word replaced by a candidate, and the new cursor."""
        label = self.candidates[index].label
        is_directory = self.kind == "file" and label.endswith("/")
        match self.kind:
            case "command":
                word = "/" + label
            case "file":
                word = mention_of(label, is_open=is_directory)
            case "shell":
                word = "!" + label
            case "argument":
                word = label
        rest = text[self.end :].removeprefix('"' if self.kind == "file" else "")
        if not is_directory and self.kind != "shell":
            word, rest = word + " ", rest.removeprefix(" ")
        return text[: self.start] + word + rest, self.start + len(word)


def complete(
    text: str, cursor: int, commands: Sequence[Candidate], files: Sequence[str]
) -> Completion | None:
    """Return the candidates for the word before the cursor; None if there are none.

    `files` are the files found for it so far, the best first.
    """
    start = _word_start(text, cursor)
    word = text[start:cursor]
    if word.startswith("/") and start == 0 and "/" not in word[1:]:
        scores = [(_command_score(word[1:], c), c.label, c) for c in commands]
        matches = [entry[2] for entry in sorted(scores, key=lambda e: e[:2]) if entry[0] >= 0]
        return _completion(start, cursor, matches, "command")
    if word.startswith("@"):
        return _completion(start, cursor, [Candidate(path) for path in files], "file")
    return None


def complete_shell(
    text: str, cursor: int, earlier: Sequence[str], *, is_asked: bool = False
) -> Completion | None:
    """Return the earlier commands, newest first, that continue what follows the `!`.

    Commands that begin with it come first, then those that contain it. None for `!` alone unless
    `is_asked`, and if the cursor is not at the end.
    """
    prefix = text[1:cursor].lstrip()
    if not (prefix or is_asked) or cursor != len(text):
        return None
    others = [command for command in earlier if command != prefix]
    begin = [command for command in others if command.startswith(prefix)]
    hold = [command for command in others if prefix in command and not command.startswith(prefix)]
    offers = [Candidate(command) for command in (*begin, *hold)[:_SHOWN_COMMANDS]]
    return _completion(0, cursor, offers, "shell")


def mention_prefix(text: str, cursor: int) -> str | None:
    """Return the text after the `@` of the word before the cursor; None without `@`."""
    word = text[_word_start(text, cursor) : cursor]
    if not word.startswith("@"):
        return None
    return unquote(word[2:]) if word.startswith('@"') else word[1:]


def _word_start(text: str, cursor: int) -> int:
    """Return the start of the word before the cursor, including spaces after `@` and a quote."""
    line = text.rfind("\n", 0, cursor) + 1
    if text.find('@"', line, cursor) >= 0:
        open_quote = _OPEN_QUOTE.search(text, line, cursor)
        if open_quote is not None:
            return open_quote.start()
    start = cursor
    while start and not text[start - 1].isspace():
        start -= 1
    return start


def _command_score(needle: str, command: Candidate) -> int:
    """Return a score (lower is better): names, then aliases, then words of the description."""
    score = match_score(needle, command.label)
    if 0 <= score < _FAR:
        return score
    for alias in command.aliases:
        if needle and alias.startswith(needle):
            return _FAR
    if len(needle) > 2 and any(
        w.startswith(needle.casefold()) for w in command.detail.casefold().split()
    ):
        return _FAR + 1
    return score if score < 0 else score + _FAR


def match_score(needle: str, text: str) -> int:
    """Return the distance of a text from what was typed: 0: it begins with it; -1: no match."""
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
        index = text.find(char, position + 1)
        if index < 0:
            return -1
        gaps += index - position - 1
        position = index
    return 4 + gaps


def _completion(
    start: int, end: int, offers: Iterable[Candidate], kind: CompletionKind
) -> Completion | None:
    # All commands can be reached in the list; the number of files is limited.
    candidates = tuple(offers)[: None if kind == "command" else _SHOWN]
    return Completion(start, end, candidates, kind) if candidates else None


def candidates(registry: CommandRegistry) -> tuple[Candidate, ...]:
    """Return all commands as candidates for the menu."""
    return tuple(
        Candidate(
            command.meta.name,
            command.meta.description,
            command.meta.argument_hint,
            command.meta.aliases,
        )
        for command in registry.list_commands()
    )
