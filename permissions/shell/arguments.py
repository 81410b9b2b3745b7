"""Splits the arguments of a program into options and operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.syntax import GLOB_MARKS, Word

_GLOBS = tuple(GLOB_MARKS.values())


class Option(Struct, frozen=True):
    """One option; short ones are single letters with their dash."""

    name: str
    value: Word | None = None


class Arguments(Struct, frozen=True):
    """The parsed arguments of a program."""

    options: tuple[Option, ...]
    operands: tuple[Word, ...]
    injectable: bool
    """Whether a word whose value is not known could be an option."""

    def values(self, *names: str) -> tuple[Word, ...]:
        """Return the values given to any of the options."""
        return tuple(
            option.value
            for option in self.options
            if option.value is not None and (option.name in names or _is_short(option.name, names))
        )

    def has(self, *names: str) -> bool:
        """Return whether one of the options was given, possibly abbreviated."""
        return any(option.name in names or _is_short(option.name, names) for option in self.options)


def ends_options(words: Sequence[Word], position: int, switches: str = "") -> bool:
    """Return whether the `--` at this position certainly ends the options.

    After an option that takes a value, it is the value, whatever the program.
    """
    previous = words[position - 1].plain if position else ""
    if not previous.startswith("-") or "=" in previous or previous in _SWITCHES:
        return True
    return not previous.startswith("--") and all(letter in switches for letter in previous[1:])


_SWITCHES = frozenset(
    """
    - -- --all --amend --cached --check --count --exact --fix --force --graph --hard --help
    --ignore-case --line-number --name-only --name-status --no-color --no-pager --numstat --oneline
    --others --patch --porcelain --quiet --raw --recursive --release --reverse --shortstat --short
    --silent --staged --stat --summary --verbose
    """.split()
)
"""Options that take no value in the next word, in any program here that has them."""


def could_be_option(word: Word) -> bool:
    """Return whether the word may be an option whose name is not known before its expansion."""
    text = word.text
    if word.splits or text.startswith((UNKNOWN, *_GLOBS)):
        return True
    if text.isascii() or not text.startswith("-"):
        return False
    # `--$X`, `--out?ut=x`, `-$X`: a value after `=` or a letter changes nothing.
    name = text.partition("=")[0] if text.startswith("--") else text[:2]
    return any(mark in name for mark in (UNKNOWN, *_GLOBS))


def is_listed(name: str, short: str, long: frozenset[str], *, exact: bool) -> bool:
    """Return whether an option is one of these letters or long names; `exact`: no abbreviations."""
    if name in long:
        return True
    if len(name) == 2:
        return name[1] in short
    if exact or not name.startswith("--") or len(name) < 4 or name in _WHOLE:
        return False
    # GNU programs accept any unambiguous abbreviation of a long option.
    return any(option.startswith(name) for option in long)


_WHOLE = frozenset({"--text", "--exclude", "--file", "--include", "--output", "--link"})
"""Options that are also a prefix of another one, and are not abbreviations."""


def split_arguments(
    words: Sequence[Word],
    *,
    value_letters: str = "",
    value_options: frozenset[str] = frozenset(),
    switches: str = "",
    single_dash: bool = False,
    stops_at_operand: bool = False,
) -> Arguments:
    """Parse the words after a program's name.

    After a `--` that may be a value, each word is interpreted in both ways.

    Args:
        value_letters: Letters of short options that take a value, attached or in the next word.
        value_options: Long options (with dashes) that take their value in the next word too.
        switches: Letters of short options that certainly take none.
        single_dash: Long options have one dash (`find`, `go`, `openssl`), so no clusters.
        stops_at_operand: The first operand ends the options.
    """
    read = _Reading(value_letters, value_options, single_dash=single_dash)
    position = 0
    while position < len(words):
        word = words[position]
        text = word.plain
        position += 1
        read.injectable |= could_be_option(word)
        if text == "--":
            read.operands.extend(words[position:])
            if not stops_at_operand and not ends_options(words, position - 1, switches):
                rest = split_arguments(
                    words[position:],
                    value_letters=value_letters,
                    value_options=value_options,
                    switches=switches,
                    single_dash=single_dash,
                )
                read.options.extend(rest.options)
                read.injectable |= rest.injectable
            break
        if text == "-" or not text.startswith("-"):
            read.operands.append(word)
            if stops_at_operand:
                read.operands.extend(words[position:])
                break
        else:
            position += read.add_options(word, words[position : position + 1])
    return Arguments(tuple(read.options), tuple(read.operands), read.injectable)


class _Reading:
    """The arguments of a program that were parsed so far."""

    def __init__(
        self, value_letters: str, value_options: frozenset[str], *, single_dash: bool
    ) -> None:
        self.options: list[Option] = []
        self.operands: list[Word] = []
        self.injectable = False
        self._value_letters = value_letters
        self._value_options = value_options
        self._single_dash = single_dash

    def add_options(self, word: Word, next_words: Sequence[Word]) -> bool:
        """Add the options in one word; return whether the next word is the value."""
        following = next_words[0] if next_words else None
        if self._single_dash or word.plain.startswith("--"):
            option, takes_next = _long_option(word, following, self._value_options)
            self.options.append(option)
        else:
            letters, takes_next = _short_options(word, following, self._value_letters)
            self.options.extend(letters)
            self.injectable |= any(one.name[1] in _UNKNOWN_LETTERS for one in letters)
        if not takes_next or following is None:
            return False
        # A value that may be empty makes the next word the value.
        self.injectable |= following.splits
        return True


_UNKNOWN_LETTERS = (UNKNOWN, *_GLOBS)


def _long_option(
    word: Word, following: Word | None, value_options: frozenset[str]
) -> tuple[Option, bool]:
    """Return an option, and whether the next word is its value and not an operand."""
    name, equals, _ = word.plain.partition("=")
    if equals:
        return Option(name, _tail(word, len(name) + 1)), False
    if name in value_options:
        return Option(name, following), True
    # The value of an abbreviated option also stays among the operands.
    return Option(name, following if _is_short(name, value_options) else None), False


def _short_options(
    word: Word, following: Word | None, value_letters: str
) -> tuple[list[Option], bool]:
    """Return the options of one word, and whether the next word is the last one's value."""
    options: list[Option] = []
    text = word.plain
    for index, letter in enumerate(text[1:], start=1):
        if letter in value_letters:
            is_last = index + 1 == len(text)
            options.append(Option(f"-{letter}", following if is_last else _tail(word, index + 1)))
            return options, is_last
        options.append(Option(f"-{letter}"))
    return options, False


def _is_short(name: str, names: Iterable[str]) -> bool:
    """Whether it is an abbreviation of a long option, as GNU programs accept it."""
    return (
        len(name) > 3
        and name.startswith("--")
        and name not in _WHOLE
        and any(one.startswith(name) for one in names)
    )


def _tail(word: Word, start: int) -> Word:
    return Word(word.raw, word.text[start:], word.splits)
