"""Commands without an effect of their own: conditions, `cd`, `x=1`. Few conditions run anything."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import names
from permissions.shell.syntax import Simple, Word

_UNARY = names("-n -z -a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -o")
_BINARY = names("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef")
_EVALUATING = names("-eq -ne -lt -le -gt -ge -v -R")
"""Operators of `[[` that evaluate their operands, including `a[$(…)]`."""
_INERT = names("true false : exit return break continue wait")
"""Builtins without an effect, when all their words are known."""
_PLAIN_NAME = compile_late(r"(?!.*proxy)(?!npm_)(?!(?:cd|f)?path$)[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
"""Lower-case names, which programs do not read, apart from the exceptions in the pattern."""
_READ_WORD = compile_late(rf"-[re]+|-[dnNpt].*|{_PLAIN_NAME.pattern}|[0-9]+|")
"""Options of `read` and the names it sets."""
_SET_OPTIONS = names(
    "-e -u -x -v -o +e +u +x +v +o -eu -ex -eux -euo -exo -euxo pipefail errexit nounset"
)


_KNOWN = _INERT | {"read", "time", "set"}


def is_inert(program: str, arguments: tuple[Word, ...]) -> bool:
    """Return whether a builtin has no effect that needs permission: `cd`, `true`, `[ -f x ]`."""
    if program == "cd":
        return True
    if program in ("test", "[", "[["):
        return _is_inert_test(program, arguments)
    if program not in _KNOWN or not all(word.is_literal for word in arguments):
        return False
    return _does_nothing(program, [word.text for word in arguments])


def _does_nothing(program: str, texts: list[str]) -> bool:
    """Return whether a known builtin has no effect with these words."""
    if program == "read":
        return all(map(_READ_WORD.fullmatch, texts))
    if program == "time":
        # Without a command it times a subshell, which is checked separately.
        return not texts
    return program in _INERT or (bool(texts) and _SET_OPTIONS.issuperset(texts))


def sets_plain_name(simple: Simple) -> bool:
    """Return whether it is only `name=value`, which affects only this shell."""
    if len(simple.assignments) != 1:
        return False
    item = simple.assignments[0]
    is_whole = item.raw.startswith((f"{item.name}=", f"{item.name}+="))
    return is_whole and _PLAIN_NAME.fullmatch(item.name) is not None


def _is_inert_test(program: str, words: Sequence[Word]) -> bool:
    """Return whether the condition certainly runs nothing, apart from its substitutions."""
    if all(word.is_literal for word in words):
        return True
    if program == "[[":
        return not any(word.text in _EVALUATING for word in words)
    test_words = [word for word in words if word.text != "]"]
    while test_words and test_words[0].text == "!":
        test_words = test_words[1:]
    # A word that splits may become an operator and its operand.
    return not any(word.splits for word in test_words) and _is_plain_condition(test_words)


def _is_plain_condition(test_words: Sequence[Word]) -> bool:
    match test_words:
        case [_]:
            return True
        case [operator, _]:
            return operator.text in _UNARY
        case [_, operator, _]:
            return operator.text in _BINARY
    return False
