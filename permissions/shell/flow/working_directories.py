"""Finds the directories in which each simple command of a script may run.

`cd` is followed through lists, pipelines, subshells, branches and loops. If a `cd` may or may not
have run, a command has several directories and all of them count; if the directory may be any,
`UNKNOWN_DIRECTORY` is one of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.flow.nested_scripts import printed_text
from permissions.shell.syntax import (
    HOME_MARK,
    PIPE_MARK,
    PWD_MARK,
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

MAX_DIRECTORIES = 4
"""Maximum number of directories per command; with more, `UNKNOWN_DIRECTORY` is added."""

_NESTED_LOOPS = 2
"""Depth of nested loops that are analyzed exactly; the work grows with each level."""

UNKNOWN_DIRECTORY = f"/{UNKNOWN}"
"""Represents an unknown directory. Known ones beside it can still make a call stricter."""

Directories = frozenset[str]
"""Absolute paths a command may run in; never empty."""

_ANYWHERE: Directories = frozenset({UNKNOWN_DIRECTORY})


class Placed(Struct, frozen=True):
    """A simple command or a redirection of a compound one, with its directories."""

    simple: Simple
    directories: Directories
    stage: int
    """Increases with time: a command with a smaller stage has ended before; with the same, it may
    not have."""
    is_late: bool
    """Whether it may run at any later time: in the background, or in a function."""
    piped_text: str | None = None
    """What the command before it in a pipe prints, if that is evident from its text."""
    search: Simple | None = None
    """The `find`, or the `echo` of patterns, before it in a pipe."""
    repeats: bool = False
    """Whether it is in a loop."""
    is_fed: bool = False
    """Whether its input is in the script or comes from another command."""


class _Exit(Struct, frozen=True):
    """The directories in which the shell may be after a statement, by its result."""

    success: Directories
    failure: Directories

    @property
    def either(self) -> Directories:
        return _union(self.success, self.failure)


def place(script: Script, directory: str, home: str) -> list[Placed]:
    """Return the simple commands in source order; those of a substitution follow their command."""
    moves = _MAY_MOVE.search(script.raw) is not None
    walker = _Walker(home, script.functions, moves, is_strange=script.taints_variables)
    walker.walk(script.body, frozenset({directory}))
    return walker.placed_commands


_MAY_MOVE = compile_late(
    r"\b(?:cd|pushd|popd|eval|source)\b|(?:^|[\s;&|({])\.\s|[\\$`'\"*?~]|[\[{](?![\s\[])"
)
"""Matches every script that may change directory, whatever command does it."""


def _union(one: Directories, other: Directories) -> Directories:
    if one == other:
        return one
    both = one | other
    if len(both - _ANYWHERE) <= MAX_DIRECTORIES:
        return both
    # Keep those nearest the root: `..` leaves the scope from them first.
    nearest = sorted(both - _ANYWHERE, key=lambda path: (path.count("/"), path))
    return frozenset(nearest[:MAX_DIRECTORIES]) | _ANYWHERE


class _Walker:
    def __init__(
        self, home: str, functions: frozenset[str], moves: bool, *, is_strange: bool
    ) -> None:
        self._home = home
        # The script sets HOME or CDPATH: `cd` may go elsewhere.
        self._also_possible = _ANYWHERE if is_strange else frozenset()
        self._moves = moves
        self._moving = functions if moves else frozenset()
        self._silent = 0
        self._stage = 0
        # Parts that run at the same time, or repeatedly, share one stage.
        self._sharing = 0
        self._late = 0
        self._loops = 0
        self._feed_count = 0
        self._functions = functions
        self._piped_text: str | None = None
        self._search: Simple | None = None
        self.placed_commands: list[Placed] = []

    def walk(self, node: Node, directories: Directories) -> _Exit:
        match node:
            case Simple():
                return self._simple(node, directories)
            case Sequence():
                exits = _Exit(directories, directories)
                for item in node.items:
                    exits = self.walk(item, exits.either)
                    self._advance()
                return exits
            case AndOr():
                return self._and_or(node, directories)
            case Isolated():
                self._walk_isolated(node, directories)
                return _Exit(directories, directories)
            case Branches():
                return self._branches(node, directories)
            case FunctionBody():
                self._function(node, directories)
                return _Exit(directories, directories)
            case Redirected():
                is_fed = _feeds(node.redirects)
                self._feed_count += is_fed
                exits = self.walk(node.body, directories)
                self._feed_count -= is_fed
                self._record(Simple("", (), (), node.redirects), directories)
                self._redirect_scripts(node.redirects, directories)
                return exits
            case Words():
                self._scripts(node.words, directories)
                return _Exit(directories, directories)

    def _walk_isolated(self, node: Isolated, directories: Directories) -> None:
        """Walk a pipeline, a subshell or a background command: none changes this shell's
        directory."""
        self._sharing += len(node.items) > 1 or node.is_background
        self._late += node.is_background
        for previous, item in zip((None, *node.items), node.items, strict=False):
            self._piped_text = self._printed_text(previous) if isinstance(item, Simple) else None
            self._search = _search(previous) if isinstance(item, Simple) else None
            self._feed_count += previous is not None
            self.walk(item, directories)
            self._feed_count -= previous is not None
        self._sharing -= len(node.items) > 1 or node.is_background
        self._late -= node.is_background

    def _function(self, node: FunctionBody, directories: Directories) -> None:
        self._sharing += 1
        self._late += 1
        self.walk(node.body, directories | _ANYWHERE if self._moving else directories)
        self._sharing -= 1
        self._late -= 1

    def _record(self, simple: Simple, directories: Directories) -> None:
        if not self._silent:
            is_late = self._late > 0
            repeats = self._loops > 0
            is_fed = self._feed_count > 0 or _feeds(simple.redirects)
            self.placed_commands.append(
                Placed(
                    simple,
                    directories,
                    self._stage,
                    is_late,
                    self._piped_text,
                    self._search,
                    repeats,
                    is_fed,
                )
            )
        self._piped_text = self._search = None

    def _printed_text(self, previous: Node | None) -> str | None:
        if not isinstance(previous, Simple) or self._functions:
            return None
        return printed_text(previous)

    def _advance(self) -> None:
        if not self._sharing:
            self._stage += 1

    def _scripts(self, words: Iterable[Word], directories: Directories) -> None:
        for word in words:
            if not word.scripts:
                continue
            # A process substitution may outlive the command that it belongs to.
            outlives = PIPE_MARK in word.text
            self._sharing += 1
            self._late += outlives
            for script in word.scripts:
                self.walk(script.body, directories)
            self._sharing -= 1
            self._late -= outlives

    def _redirect_scripts(self, redirects: tuple[Redirect, ...], directories: Directories) -> None:
        self._sharing += 1
        self._late += 1
        for redirect in redirects:
            for script in redirect.scripts:
                self.walk(script.body, directories)
        self._sharing -= 1
        self._late -= 1

    def _simple(self, simple: Simple, directories: Directories) -> _Exit:
        self._record(simple, directories)
        words = simple.words
        self._scripts(words, directories)
        self._scripts([assignment.value for assignment in simple.assignments], directories)
        self._redirect_scripts(simple.redirects, directories)
        words = _run_here(words)
        if not words:
            return _Exit(directories, directories)
        name = words[0]
        if name.text in ("source", ".") and _is_activation(words[1:]):
            return _Exit(directories, directories)
        if not name.is_literal or name.text in _OPAQUE_BUILTINS or name.text in self._moving:
            return _Exit(directories | _ANYWHERE, directories | _ANYWHERE)
        if name.text in ("cd", "pushd"):
            return _Exit(
                self._destination(words[1:], directories) | self._also_possible, directories
            )
        if name.text == "popd":
            return _Exit(_ANYWHERE, directories)
        return _Exit(directories, directories)

    def _destination(self, words: tuple[Word, ...], directories: Directories) -> Directories:
        operands = [word for word in words if word.text not in ("-P", "-L", "--", "-e", "-@")]
        if not operands:
            return frozenset({self._home})
        word = operands[0]
        text = word.text.replace(HOME_MARK, self._home)
        if len(operands) > 1 or text.startswith("-") or word.splits or word.has_glob:
            return _ANYWHERE
        if len(directories) == 1:
            text = text.replace(PWD_MARK, next(iter(directories)))
        if not Word("", text).is_literal:
            return _ANYWHERE
        if text.startswith("/"):
            return self._spellings(text)
        return self._subdirectories(directories, text)

    def _subdirectories(self, directories: Directories, text: str) -> Directories:
        subdirectories: Directories = frozenset()
        for directory in directories:
            if directory == UNKNOWN_DIRECTORY:
                subdirectories = _union(subdirectories, _ANYWHERE)
            else:
                subdirectories = _union(subdirectories, self._spellings(f"{directory}/{text}"))
        return subdirectories

    @staticmethod
    def _spellings(path: str) -> Directories:
        # The shell removes `x/..` from the text unless an option is set; with a link the two
        # interpretations differ, so both count.
        lexical = os.path.normpath(path)
        return frozenset({lexical, path}) if ".." in path.split("/") else frozenset({lexical})

    def _and_or(self, node: AndOr, directories: Directories) -> _Exit:
        first = self.walk(node.first, directories)
        self._advance()
        if node.is_and:
            second = self.walk(node.second, first.success)
            return _Exit(second.success, _union(first.failure, second.failure))
        second = self.walk(node.second, first.failure)
        return _Exit(_union(first.success, second.success), second.failure)

    def _branches(self, node: Branches, directories: Directories) -> _Exit:
        if not node.repeats:
            return self._walk_branches(node, directories)
        self._sharing += 1
        self._loops += 1
        exits = self._walk_branches(node, self._loop_directories(node, directories))
        self._sharing -= 1
        self._loops -= 1
        return exits

    def _walk_branches(self, node: Branches, directories: Directories) -> _Exit:
        current = directories
        for condition in node.condition:
            current = self.walk(condition, current).either
        last = current
        for body in node.bodies:
            last = _union(last, self.walk(body, current).either)
        return _Exit(last, last)

    def _loop_directories(self, node: Branches, directories: Directories) -> Directories:
        """Return every directory that an iteration may start in."""
        if not self._moves:
            return directories
        if self._silent >= _NESTED_LOOPS:
            return directories | _ANYWHERE
        self._silent += 1
        following = _union(directories, self._walk_branches(node, directories).either)
        self._silent -= 1
        return directories if following == directories else following | _ANYWHERE


_ASSIGNMENT = compile_late(r"[A-Za-z_]\w*\+?=", re.ASCII)
_HERE = frozenset({"command", "builtin", "time"})
_OPAQUE_BUILTINS = frozenset({"eval", "source", ".", "exec"})


def _feeds(redirects: Iterable[Redirect]) -> bool:
    return any("<" in one.raw[:3] for one in redirects)


def _run_here(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command after `command`, `builtin` and `time`, which run it in this shell."""
    while len(words) > 1 and words[0].text in _HERE:
        is_timed = words[0].text == "time"
        words = words[1:]
        while len(words) > 1 and (
            words[0].text in ("-p", "--") or (is_timed and _ASSIGNMENT.match(words[0].text))
        ):
            words = words[1:]
    return words


def _search(previous: Node | None) -> Simple | None:
    """Return the command that prints file names into a pipe: `find` or `echo *`."""
    if not isinstance(previous, Simple) or not previous.words:
        return None
    is_literal = all(word.is_literal for word in previous.words)
    if previous.words[0].text not in _PRINTERS:
        return previous if is_literal and previous.words[0] == _FIND else None
    # A literal word is known already, and the value of a variable is not known at all.
    return None if is_literal or any(map(_is_open, previous.words)) else previous


def _is_open(word: Word) -> bool:
    return word.splits or word.is_unknown or bool(word.scripts)


_FIND = Word("find", "find")
_PRINTERS = frozenset({"echo", "printf"})


def _is_activation(words: tuple[Word, ...]) -> bool:
    """Return whether it is the script of a virtual environment, which does not change directory."""
    return len(words) == 1 and words[0].is_literal and words[0].text.endswith("/bin/activate")
