"""Regular expressions whose search takes time in proportion to the text, whatever the pattern.

`re` tries one way after the other, and `(a+)+$` has more ways than anybody can wait for. Here all
ways are followed at once: a pattern becomes a program (`regex_program`), and each position of the
text has a set of instructions that can be there. Single characters and places such as `^` are still
judged by `re`, so that they mean the same.
"""

from __future__ import annotations

from typing import Final

from hooks.config.regex_program import (
    AssertHolds,
    AssertLook,
    Char,
    Instruction,
    Jump,
    Look,
    Matched,
    RegexProgram,
    Split,
    UnboundedPattern,
    compile_program,
)

__all__ = ["BoundedRegex", "UnboundedPattern"]

LONGEST_VALUE_CHARS: Final = 1_000
"""How much of a text is searched; tools, files and models have shorter names."""


class BoundedRegex:
    """A pattern that can be searched for in bounded time."""

    def __init__(self, pattern: str) -> None:
        """Read a pattern that `re` accepts. Raises UnboundedPattern for what cannot be bounded."""
        self.pattern = pattern
        self._program = compile_program(pattern)

    def search(self, value: str) -> bool:
        """Return whether the pattern matches anywhere in a text."""
        return bool(_Search(value[:LONGEST_VALUE_CHARS]).reached(self._program))


class _Search:
    """One text, and where in it each program has been found to end."""

    def __init__(self, value: str) -> None:
        self._value = value
        self._looked: dict[Look, frozenset[int]] = {}

    def reached(self, program: RegexProgram) -> frozenset[int]:
        """Return the positions at which a match ends that may begin anywhere.

        A backward program reads from right to left: its matches end where the text they cover
        begins.
        """
        value, step = self._value, -1 if program.is_backward else 1
        last = 0 if program.is_backward else len(value)
        position = len(value) if program.is_backward else 0
        ends: set[int] = set()
        waiting: set[int] = set()
        while True:
            here = self._closure(program.code, {0, *waiting}, position)
            if len(program.code) - 1 in here:
                ends.add(position)
            if position == last:
                return frozenset(ends)
            index = position - 1 if program.is_backward else position
            waiting = {
                at + 1
                for at in here
                if isinstance(op := program.code[at], Char) and op.test.match(value, index)
            }
            position += step

    def _closure(self, code: tuple[Instruction, ...], starts: set[int], position: int) -> set[int]:
        """Return every instruction that can be reached without reading a character."""
        seen: set[int] = set()
        left = list(starts)
        while left:
            at = left.pop()
            if at in seen:
                continue
            seen.add(at)
            match code[at]:
                case Jump(to=to):
                    left.append(to)
                case Split(to=to):
                    left.extend((at + 1, to))
                case AssertHolds(test=test):
                    if test.match(self._value, position):
                        left.append(at + 1)
                case AssertLook(look=look):
                    if (position in self._ends_of(look)) is not look.is_negative:
                        left.append(at + 1)
                case Char() | Matched():
                    pass
        return seen

    def _ends_of(self, look: Look) -> frozenset[int]:
        if look not in self._looked:
            self._looked[look] = self.reached(look.program)
        return self._looked[look]
