"""From the text of a regular expression to instructions that `bounded_regex` follows.

A pattern must be one that `re` accepts; only its structure (groups, alternatives, repetitions) is
read here. What needs more than a position to be remembered is refused: back-references, conditions,
atomic groups and possessive repetitions.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct, field

LONGEST_PROGRAM: Final = 1_000
DEEPEST: Final = 50
FLAGS: Final = {
    "i": re.IGNORECASE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "a": re.ASCII,
    "u": re.UNICODE,
}
ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|0[0-7]{0,2}|[1-3][0-7]{2}"
    r"|(?P<reference>[1-9][0-9]?)|(?P<place>[bBAZ])|.)",
    re.DOTALL,
)
CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
GROUP: Final = re.compile(
    r"\((?:\?(?:(?P<look><?[=!])|P<\w+>|(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]+))?(?P<end>[:)])"
    r"|(?P<other>.)))?",
    re.DOTALL,
)
QUANTIFIER: Final = re.compile(
    r"(?:[*+?]|\{(?!\})(?P<low>[0-9]*)(?P<to>,(?P<high>[0-9]*))?\})(?P<how>[?+])?"
)


class UnboundedPattern(ValueError):
    """A pattern that cannot be searched for in bounded time; the text is the reason."""


class Char(Struct, frozen=True):
    """Read one character that passes a test."""

    test: re.Pattern[str]


class AssertHolds(Struct, frozen=True):
    """Continue where a place such as `^` or `\\b` is."""

    test: re.Pattern[str]


class Jump(Struct, frozen=True):
    """Continue elsewhere."""

    to: int


class Split(Struct, frozen=True):
    """Continue with the next instruction and elsewhere, both."""

    to: int


class Matched(Struct, frozen=True):
    """The whole pattern was read; always the last instruction."""


class Look(Struct, frozen=True, eq=False):
    """A lookahead or lookbehind: its own program, read away from the position."""

    program: RegexProgram
    is_negative: bool


class AssertLook(Struct, frozen=True):
    """Continue where something else is (or is not) ahead or behind."""

    look: Look


Instruction = Char | AssertHolds | Jump | Split | Matched | AssertLook


class RegexProgram(Struct, frozen=True):
    """Instructions, the first first."""

    code: tuple[Instruction, ...]
    is_backward: bool = False
    """Reads the text from right to left."""


class _Alternatives(Struct, frozen=True):
    """One of several sequences."""

    sequences: tuple[tuple[_Node, ...], ...]


class _Repeat(Struct, frozen=True):
    """Something several times."""

    node: _Node
    low: int
    high: int | None
    """None: without end."""


class _Look(Struct, frozen=True):
    """A lookahead or lookbehind, not yet a program."""

    inner: _Alternatives
    is_behind: bool
    is_negative: bool


_Node = Char | AssertHolds | _Alternatives | _Repeat | _Look


def compile_program(pattern: str) -> RegexProgram:
    """Return the program of a pattern that `re` accepts. Raises UnboundedPattern."""
    return _program(_Reader(pattern).read(), _Room(), is_backward=False)


def _program(node: _Alternatives, room: _Room, *, is_backward: bool) -> RegexProgram:
    writer = _Writer(room, is_backward)
    writer.write(node)
    return RegexProgram((*writer.code, Matched()), is_backward)


class _Room(Struct):
    """How many instructions may still be written, those of nested lookarounds included."""

    left: int = LONGEST_PROGRAM

    def take(self) -> None:
        """Make room for one more. Raises UnboundedPattern."""
        if self.left == 0:
            raise UnboundedPattern("is too long with its repetitions written out")
        self.left -= 1


class _Writer(Struct):
    """Writes instructions for nodes."""

    room: _Room
    is_backward: bool
    code: list[Instruction] = field(default_factory=list)

    def write(self, node: _Node) -> None:
        """Append the instructions of a node."""
        match node:
            case Char() | AssertHolds():
                self._add(node)
            case _Alternatives(sequences=sequences):
                self._write_alternatives(sequences)
            case _Repeat():
                self._write_repeat(node)
            case _Look(inner=inner, is_behind=is_behind, is_negative=is_negative):
                # What is ahead is read from its end to here, what is behind from its start to here.
                program = _program(inner, self.room, is_backward=not is_behind)
                self._add(AssertLook(Look(program, is_negative)))

    def _write_alternatives(self, sequences: tuple[tuple[_Node, ...], ...]) -> None:
        leave: list[int] = []
        for sequence in sequences[:-1]:
            split = self._add(Split(0))
            self._write_sequence(sequence)
            leave.append(self._add(Jump(0)))
            self.code[split] = Split(len(self.code))
        self._write_sequence(sequences[-1])
        for at in leave:
            self.code[at] = Jump(len(self.code))

    def _write_sequence(self, sequence: tuple[_Node, ...]) -> None:
        for node in reversed(sequence) if self.is_backward else sequence:
            self.write(node)

    def _write_repeat(self, repeat: _Repeat) -> None:
        for _ in range(repeat.low):
            before = len(self.code)
            self.write(repeat.node)
            if len(self.code) == before:
                return  # nothing, any number of times
        if repeat.high is None:
            split = self._add(Split(0))
            self.write(repeat.node)
            self._add(Jump(split))
            self.code[split] = Split(len(self.code))
            return
        splits: list[int] = []
        for _ in range(repeat.high - repeat.low):
            splits.append(self._add(Split(0)))
            self.write(repeat.node)
        for split in splits:
            self.code[split] = Split(len(self.code))

    def _add(self, instruction: Instruction) -> int:
        self.room.take()
        self.code.append(instruction)
        return len(self.code) - 1


class _Reader:
    """Reads the structure of a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def read(self) -> _Alternatives:
        """Return the whole pattern."""
        return self._alternatives(re.NOFLAG)

    def _alternatives(self, flags: re.RegexFlag) -> _Alternatives:
        """Read up to the end of the group."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnboundedPattern("is nested too deeply")
        done: list[tuple[_Node, ...]] = []
        sequence: list[_Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._pattern[self._at] == "|":
                self._at += 1
                done.append(tuple(sequence))
                sequence = []
                continue
            node, flags = self._item(flags)
            if node is not None:
                sequence.append(self._repeated(node))
        self._depth -= 1
        return _Alternatives((*done, tuple(sequence)))

    def _item(self, flags: re.RegexFlag) -> tuple[_Node | None, re.RegexFlag]:
        """Read one character, place or group; flags may be set for what follows."""
        char = self._pattern[self._at]
        if char == "(":
            return self._group(flags)
        if char == "\\":
            return self._escape(flags), flags
        if char == "[":
            found = CLASS.match(self._pattern, self._at)
            if found is None:
                raise UnboundedPattern("has a set of characters without an end")
            self._at = found.end()
            return _char(found.group(), flags), flags
        self._at += 1
        if char in "^$":
            return AssertHolds(re.compile(char, flags)), flags
        return _char(char if char == "." else re.escape(char), flags), flags

    def _escape(self, flags: re.RegexFlag) -> _Node:
        found = ESCAPE.match(self._pattern, self._at)
        if found is None or found["reference"]:
            raise UnboundedPattern("refers back to a group")
        self._at = found.end()
        if found["place"]:
            return AssertHolds(re.compile(found.group(), flags))
        return _char(found.group(), flags)

    def _group(self, flags: re.RegexFlag) -> tuple[_Node | None, re.RegexFlag]:
        found = GROUP.match(self._pattern, self._at)
        if found is None or found["other"]:
            raise UnboundedPattern(
                "has a group that is a reference, a condition, atomic or a comment"
            )
        self._at = found.end()
        inner = flags
        if found["end"]:
            inner = _with_flags(flags, found["on"], found["off"] or "")
            if found["end"] == ")":
                return None, inner
        alternatives = self._alternatives(inner)
        self._at += 1
        if (look := found["look"]) is not None:
            return _Look(alternatives, look.startswith("<"), look.endswith("!")), flags
        return alternatives, flags

    def _repeated(self, node: _Node) -> _Node:
        found = QUANTIFIER.match(self._pattern, self._at)
        if found is None:
            return node
        if found["how"] == "+":
            raise UnboundedPattern("has a repetition that gives nothing back")
        self._at = found.end()
        match found.group()[0]:
            case "*":
                return _Repeat(node, 0, None)
            case "+":
                return _Repeat(node, 1, None)
            case "?":
                return _Repeat(node, 0, 1)
        low = int(found["low"] or 0)
        if found["to"] is None:
            return _Repeat(node, low, low)
        return _Repeat(node, low, int(found["high"]) if found["high"] else None)


def _char(text: str, flags: re.RegexFlag) -> Char:
    return Char(re.compile(text, flags))


def _with_flags(flags: re.RegexFlag, on: str, off: str) -> re.RegexFlag:
    for letter in on + off:
        if letter not in FLAGS:
            raise UnboundedPattern(f"sets the flag {letter!r}")
    for letter in on:
        if letter in "au":
            flags &= ~(re.ASCII | re.UNICODE)  # the inner one of the two counts
        flags |= FLAGS[letter]
    for letter in off:
        flags &= ~FLAGS[letter]
    return flags
