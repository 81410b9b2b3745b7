"""Finds the loop variables that always contain a word of their `for` list in the loop's body.

They resolve only files that are read: what a body writes, runs or passes as an option remains
unknown. A script that could set a variable in another way has no such variables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.syntax import HOME_MARK, PIPE_MARK, PWD_MARK, Word

_NAME = compile_late(r"[a-z][A-Za-z0-9_]*")
_OPEN = (UNKNOWN, PIPE_MARK, PWD_MARK, HOME_MARK)
_TRIMMING = compile_late(r"\$\{[A-Za-z_]\w*(?:%%?|##?)[\w.*/-]*\}", re.ASCII)
"""`${x%.py}`: cuts a value and evaluates nothing."""
CHANGING = frozenset(
    """
    read export declare typeset local readonly unset mapfile readarray getopts let wait set shift
    eval source . trap alias unalias shopt enable command builtin select coproc time exec bind fc
    compgen complete compopt hash history [[
    """.split()
)
"""Builtins that may set a variable, or that run something in this shell."""


class LoopVariables:
    """Collects loop variables in the first pass over a script, and has their values in the
    second."""

    def __init__(self, single_assignment_names: frozenset[str] = frozenset()) -> None:
        """`single_assignment_names`: the variables that only one loop sets, from the first pass."""
        self._may_bind = single_assignment_names
        self._names: list[str] = []
        self._assigned_names: set[str] = set()
        self._is_invalid = False
        self._values: dict[str, tuple[str, ...]] = {}

    @property
    def single_assignment_names(self) -> frozenset[str]:
        """The variables that one loop sets and nothing else in the script."""
        if self._is_invalid:
            return frozenset()
        return frozenset(
            name
            for name in self._names
            if self._names.count(name) == 1
            and name not in self._assigned_names
            and _NAME.fullmatch(name)
        )

    @property
    def is_invalid(self) -> bool:
        """Whether a variable may be set in a way that is not tracked."""
        return self._is_invalid

    def invalidate(self) -> None:
        """Record that a variable may be set in a way that is not tracked."""
        self._is_invalid = True

    def note_assignment(self, name: str) -> None:
        """Record `name=value`."""
        self._assigned_names.add(name)

    def note_expansion(self, raw: str) -> None:
        """Record a `${…}` that is more than a name."""
        if not _TRIMMING.fullmatch(raw):
            self.invalidate()

    def note_command(self, words: Sequence[Word]) -> None:
        """Record a command that could set a variable."""
        name, arguments = words[0], words[1:]
        base = name.text.rpartition("/")[2]
        if (
            not name.is_literal
            or base in CHANGING
            or (
                base == "printf"
                and (
                    not arguments
                    or not arguments[0].is_literal
                    or arguments[0].text.startswith("-")
                )
            )
            or (base in ("[", "test") and any("[" in word.text for word in arguments))
        ):
            self.invalidate()

    def enter(self, name: str, words: Sequence[Word]) -> None:
        """Begin the body of a loop over `words`."""
        self._names.append(name)
        if name in self._may_bind and words and not any(_is_open(word) for word in words):
            self._values[name] = tuple(word.text for word in words)

    def leave(self, name: str) -> None:
        """End the body of a loop."""
        self._values.pop(name, None)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the possible values of a variable here; () if they are not known."""
        return self._values.get(name, ())


def _is_open(word: Word) -> bool:
    text = word.text
    return word.splits or not text or text.startswith("-") or any(mark in text for mark in _OPEN)
