"""The syntax tree of a shell command, which `parse` returns."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from permissions.base.text.star_pattern import UNKNOWN

HOME_MARK = "\ue001"
"""Represents the home directory in a word (`~`, `$HOME`)."""
PWD_MARK = "\ue002"
"""Represents the current directory in a word (`$PWD`)."""
PIPE_MARK = "\ue006"
"""Represents the pipe of a process substitution in a word."""
GLOB_MARKS = {"*": "\ue003", "?": "\ue004", "[": "\ue005"}
"""Marks for unquoted pattern characters; a quoted `*` remains an ordinary character."""

_PLAIN = str.maketrans({mark: character for character, mark in GLOB_MARKS.items()})
PRIVATE_MARKS = frozenset({UNKNOWN, HOME_MARK, PWD_MARK, PIPE_MARK, *GLOB_MARKS.values()})


class Unparsable(Exception):
    """The command cannot be parsed, for the reason in the text. It is never allowed."""


class Word(Struct, frozen=True):
    """One word after quote removal, before the expansions that need a running shell."""

    raw: str
    """The source text."""
    text: str
    """The text without quotes; marks represent unknown parts."""
    splits: bool = False
    """Whether it has an unquoted expansion: it may become several words, or none."""
    scripts: tuple[Script, ...] = ()
    """The substitutions in it."""
    guess: str = ""
    """The value unless the command changes a variable first; may only make a decision stricter."""
    choices: tuple[str, ...] = ()
    """If not empty, the value is one of these instead of `text`; used for reads only."""

    @property
    def plain(self) -> str:
        """The text with pattern characters as they are written."""
        return self.text if self.text.isascii() else self.text.translate(_PLAIN)

    @property
    def is_literal(self) -> bool:
        """Whether the value is known without a look at files."""
        return self.text.isascii() or not any(mark in PRIVATE_MARKS for mark in self.text)

    @property
    def has_glob(self) -> bool:
        """Whether there is an unquoted pattern character."""
        return not self.text.isascii() and any(mark in self.text for mark in GLOB_MARKS.values())

    @property
    def is_unknown(self) -> bool:
        """Whether part of the value is unknown."""
        return UNKNOWN in self.text


SUPPLIED = Word("{}", PIPE_MARK, splits=True)
"""Represents words that come from elsewhere (`xargs`): any of them may be an option."""
FOUND = Word("{}", PIPE_MARK, splits=False)
"""Represents a name from find, if the names are known to be below its roots."""


class RedirectKind(Enum):
    """The kind of a redirection."""

    READ = "read"
    WRITE = "write"
    DUPLICATE = "duplicate"
    """Duplicates an open descriptor (`2>&1`)."""
    TEXT = "text"
    """Here-document or here-string."""

    __hash__ = object.__hash__


class Redirect(Struct, frozen=True):
    """One redirection."""

    raw: str
    kind: RedirectKind
    target: Word | None
    """None for descriptors and here-documents."""
    scripts: tuple[Script, ...] = ()
    text: str | None = None
    """The text of a here-document or here-string, if nothing in it expands."""


class Assignment(Struct, frozen=True):
    """`NAME=value`, before a command or alone."""

    raw: str
    name: str
    value: Word


class Simple(Struct, frozen=True):
    """A simple command: the unit that rules apply to."""

    raw: str
    """The source text without redirections."""
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    """Empty if there are only assignments."""
    redirects: tuple[Redirect, ...] = ()


class Sequence(Struct, frozen=True):
    """Statements that run one after another, whatever each returns."""

    items: tuple[Node, ...]


class AndOr(Struct, frozen=True):
    """`first && second` or `first || second`."""

    first: Node
    second: Node
    is_and: bool


class Isolated(Struct, frozen=True):
    """Parts that run in separate shells: pipeline, subshell, background, coproc."""

    items: tuple[Node, ...]
    is_background: bool = False


class Branches(Struct, frozen=True):
    """`if`, `case`, loops: the condition runs first, then any of the bodies."""

    condition: tuple[Node, ...]
    bodies: tuple[Node, ...]
    repeats: bool


class FunctionBody(Struct, frozen=True):
    """A function: its commands run later, from an unknown directory."""

    name: str
    body: Node


class Redirected(Struct, frozen=True):
    """A compound command with redirections."""

    body: Node
    redirects: tuple[Redirect, ...]
    raw: str


class Words(Struct, frozen=True):
    """Words outside a simple command (loop lists, tests, arithmetic): only scripts run."""

    raw: str
    words: tuple[Word, ...]


Node = Simple | Sequence | AndOr | Isolated | Branches | FunctionBody | Redirected | Words


class Script(Struct, frozen=True):
    """A whole command text, or the text of one substitution."""

    body: Sequence
    raw: str
    taints_variables: bool = False
    """Whether it sets HOME or PWD, so that their values are not known."""
    unknown_reason: str = ""
    """Why some of what runs is unknown (`eval` of a variable, `${x@P}`); may be empty."""
    may_set_any: bool = False
    """Whether it may set a variable in a way that is not tracked: by a name from elsewhere, or in
    code."""
    functions: frozenset[str] = frozenset()
    """Names of functions that the text defines; only for a whole text."""
