"""Conditions: `[ -f x ]`, `[ -n "$X" ]`, `[[ $a == b* ]]`. Few of them can run anything."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import names
from permissions.shell.syntax import Word

_UNARY = names("-n -z -a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -o")
_BINARY = names("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef")
_EVALUATING = names("-eq -ne -lt -le -gt -ge -v -R")
"""Operators of `[[` that evaluate what stands beside them, and with it `a[$(…)]`."""


def is_inert_test(program: str, words: Sequence[Word]) -> bool:
    """Does the condition surely run nothing? The commands in its substitutions are judged apart."""
    if all(word.is_literal for word in words):
        return True
    if program == "[[":
        return not any(word.text in _EVALUATING for word in words)
    given = [word for word in words if word.text != "]"]
    while given and given[0].text == "!":
        given = given[1:]
    if any(word.splits for word in given):
        # It may become an operator and its operand.
        return False
    match given:
        case [_]:
            return True
        case [operator, _]:
            return operator.text in _UNARY
        case [_, operator, _]:
            return operator.text in _BINARY
    return False
