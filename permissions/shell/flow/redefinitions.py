"""Whether `echo`, `printf` and `cat` mean themselves in a script.

What they print into a shell is read ahead. A function, an alias, another `PATH` or a remembered
place can put another program behind the name, which prints something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from permissions.shell.access import names
from permissions.shell.parse.assignments import printf_target
from permissions.shell.syntax import (
    AndOr,
    Branches,
    FunctionBody,
    Isolated,
    Node,
    Redirect,
    Redirected,
    Script,
    Sequence,
    Simple,
    Word,
    Words,
)

_RUNNING = names("eval source . alias hash enable shopt trap")
"""Commands that give a name another meaning, or run a text that may."""
_DECLARING = names(
    "export declare typeset local readonly read mapfile readarray getopts unset let printf"
)
"""Commands that set the variables they are given by name."""
_TRANSPARENT = names("command builtin time noglob nocorrect ! --")
_SETTING = names("PATH ENV BASH_ENV BASH_CMDS BASH_ALIASES EXECIGNORE POSIXLY_CORRECT SHELLOPTS")
_MENTIONED = re.compile(rf"\b(?:{'|'.join(sorted(_SETTING))})\b")


class Surroundings:
    """A script and the ones around it, whose meanings it inherits."""

    def __init__(self, script: Script, outer: Surroundings | None = None) -> None:
        """Nothing is looked at before somebody asks."""
        self.script = script
        self._outer = outer

    @cached_property
    def redefine(self) -> bool:
        """May a name mean another program than usual here?"""
        if self._outer is not None and self._outer.redefine:
            return True
        if _MENTIONED.search(self.script.raw):
            return True
        return any(map(_redefines, _simple_commands(self.script.body)))

    @cached_property
    def functions(self) -> frozenset[str]:
        """Return the names that are functions here, and not what they usually are."""
        inherited = frozenset[str]() if self._outer is None else self._outer.functions
        raw = self.script.raw
        if "(" not in raw and "function" not in raw:
            return inherited
        parts = _simple_commands(self.script.body)
        return inherited | {part.name for part in parts if isinstance(part, FunctionBody)}


def _redefines(part: Simple | FunctionBody) -> bool:
    if isinstance(part, FunctionBody):
        return True
    words = part.words
    while words and words[0].text in _TRANSPARENT:
        words = words[1:]
    if not words:
        return False
    name = words[0].text.rpartition("/")[2]
    if name in _DECLARING:
        return _may_set_another(name, words[1:])
    return not words[0].is_literal or name in _RUNNING


def _may_set_another(builtin: str, words: tuple[Word, ...]) -> bool:
    if builtin == "printf" and words and words[0].is_literal:
        words = tuple(printf_target(words))
    for word in words:
        name = word.text.partition("=")[0]
        is_open = word.splits or not Word("", name).is_literal
        # `-n` makes one name a reference to another, `-f` exports a function.
        if is_open or name in _SETTING or (name.startswith("-") and set(name) & set("nf")):
            return True
    return False


def _simple_commands(body: Node) -> Iterator[Simple | FunctionBody]:
    stack: list[Node] = [body]

    def scripts(words: Iterable[Word], redirects: Iterable[Redirect] = ()) -> None:
        stack.extend(script.body for word in words for script in word.scripts)
        stack.extend(script.body for redirect in redirects for script in redirect.scripts)

    while stack:
        node = stack.pop()
        match node:
            case Simple():
                yield node
                scripts(node.words, node.redirects)
                scripts(item.value for item in node.assignments)
            case FunctionBody():
                yield node
                stack.append(node.body)
            case Sequence() | Isolated():
                stack.extend(node.items)
            case AndOr():
                stack.extend((node.left, node.right))
            case Branches():
                stack.extend((*node.condition, *node.bodies))
            case Redirected():
                stack.append(node.body)
                scripts((), node.redirects)
            case Words():
                scripts(node.words)
