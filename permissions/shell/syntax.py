"""A shell command as data: what `parse` produces and everything else reads."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from permissions.base.text.star_pattern import UNKNOWN

HOME_MARK = "\ue001"
"""Stands in a word for the home folder (`~`, `$HOME`)."""
PWD_MARK = "\ue002"
"""Stands in a word for the current folder (`$PWD`)."""
PIPE_MARK = "\ue006"
"""Stands in a word for the pipe of a process substitution."""
GLOB_MARKS = {"*": "\ue003", "?": "\ue004", "[": "\ue005"}
"""Unquoted pattern characters, so that a quoted `*` stays an ordinary character."""

_PLAIN = str.maketrans({mark: character for character, mark in GLOB_MARKS.items()})
PRIVATE_MARKS = frozenset({UNKNOWN, HOME_MARK, PWD_MARK, PIPE_MARK, *GLOB_MARKS.values()})


class Unparsable(Exception):
    """The command is not understood; the text is the reason. It is never allowed."""


class Word(Struct, frozen=True):
    """One word after quote removal, before the expansions that need a running shell."""

    raw: str
    """As written."""
    text: str
    """Quotes removed; marks represent what is not known yet."""
    splits: bool = False
    """Has an unquoted expansion: it may become several words, or none."""
    scripts: tuple[Script, ...] = ()
    """Substitutions inside."""
    guess: str = ""
    """The value unless the command changes a variable first; may only make an answer stricter."""
    choices: tuple[str, ...] = ()
    """One of these texts is the value, whatever `text` is; for reads only."""

    @property
    def plain(self) -> str:
        """Return the text with pattern characters as they are written."""
        return self.text if self.text.isascii() else self.text.translate(_PLAIN)

    @property
    def is_literal(self) -> bool:
        """Is the value known now, without looking at files?"""
        return self.text.isascii() or not any(mark in PRIVATE_MARKS for mark in self.text)

    @property
    def has_glob(self) -> bool:
        """Is there an unquoted pattern character?"""
        return not self.text.isascii() and any(mark in self.text for mark in GLOB_MARKS.values())

    @property
    def is_unknown(self) -> bool:
        """Is part of the value unknown?"""
        return UNKNOWN in self.text


SUPPLIED = Word("{}", PIPE_MARK, splits=True)
"""Stands for words that come from elsewhere (`xargs`): any of them may be an option."""
FOUND = Word("{}", PIPE_MARK, splits=False)
"""Stands for what find finds, where that is known well enough: below its roots, no way out."""


class RedirectKind(Enum):
    """What a redirection does."""

    READ = "read"
    WRITE = "write"
    DUPLICATE = "duplicate"
    """Another name for an open descriptor (`2>&1`)."""
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
    """What a here-document or here-string gives, where nothing in it expands."""


class Assignment(Struct, frozen=True):
    """`NAME=value`, before a command or alone."""

    raw: str
    name: str
    value: Word


class Simple(Struct, frozen=True):
    """A simple command: the unit that rules are about."""

    raw: str
    """As written, redirections left out."""
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    """Empty for assignments alone."""
    redirects: tuple[Redirect, ...] = ()


class Sequence(Struct, frozen=True):
    """Statements one after another, whatever each returns."""

    items: tuple[Node, ...]


class AndOr(Struct, frozen=True):
    """`first && second` or `first || second`."""

    first: Node
    second: Node
    is_and: bool


class Isolated(Struct, frozen=True):
    """Parts that run in shells of their own: pipeline, subshell, background, coproc."""

    items: tuple[Node, ...]
    is_background: bool = False


class Branches(Struct, frozen=True):
    """`if`, `case`, loops: the condition runs first, then any of the bodies."""

    condition: tuple[Node, ...]
    bodies: tuple[Node, ...]
    repeats: bool


class FunctionBody(Struct, frozen=True):
    """A function: its commands run later, from an unknown place."""

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
    """Sets HOME or PWD somewhere, so that their values are not known."""
    hides: str = ""
    """Why some of what runs stays out of sight (`eval` of a variable, `${x@P}`); may be empty."""
    may_set_any: bool = False
    """May set a variable in a way that is not followed: by its name from elsewhere, or in code."""
    functions: frozenset[str] = frozenset()
    """Names that are functions here, and not what they usually are; of a whole text only."""
