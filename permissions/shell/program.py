"""The record of what the engine knows of one program, and the small records in it.

Lists of options and subcommands are texts with blanks in between; `access.names` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from permissions.shell.access import Access
from permissions.shell.arguments import Arguments
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.syntax import Word

Accesses = Callable[[Sequence[Word]], list[Access]]
RiskCheck = Callable[[str, Sequence[Word]], str]
Commands = tuple[list[tuple[Word, ...]], Texts]
"""Commands among the arguments of a program, and texts that it hands to a shell."""


class Risk(Struct, frozen=True):
    """Options that run programs or write files: outside every wildcard rule."""

    short: str = ""
    """Letters of risky short options."""
    long: str = ""
    """Risky long options; an abbreviation of one counts too."""
    value_letters: str = ""
    """Letters of other short options that take a value."""
    value_options: str = ""
    single_dash: bool = False
    takes_unknown: bool = False
    """Runs the project's own code anyway, so that a word that is not known is let pass."""
    to_output: str = ""
    """Of the risky ones, those that are harmless with standard output as their value."""


class ReadOnly(Struct, frozen=True):
    """Options with which a program only reads; one that is not listed makes the answer no."""

    letters: str = ""
    value_letters: str = ""
    """Letters that take a value."""
    long: str = ""
    check: Callable[[Sequence[Word], Arguments], bool] | None = None
    """What else has to be true of the words."""


class Wrapper(Struct, frozen=True):
    """How a program takes the command that it runs."""

    value_letters: str = ""
    """Letters of its own options that take a value."""
    value_options: str = ""
    operands: int = 0
    """Operands of its own before the command."""
    is_open_to_allow: bool = False
    assignments: bool = False
    """Takes `NAME=value` before the command."""
    moving: str = ""
    """Options whose value is the directory it runs in."""
    losing: str = ""
    """Options after which the directory is not known: another root, a login."""
    loses_directory: bool = False
    supplies: bool = False
    """Appends operands from its input."""


class CommandRunner(Struct, frozen=True):
    """Subcommands behind which a command stands: `uv run`, `docker exec`."""

    subcommands: str
    value_letters: str = "pc"
    """Letters of options between them that take a value."""
    skip: int = 0
    """Operands that set where the command runs, before it."""
    is_elsewhere: bool = False
    """It runs in a container: its paths are not paths here."""


class Code(Enum):
    """What kind of code a program takes among its arguments."""

    LANGUAGE = "language"
    DATABASE = "database"
    EDITOR = "editor"
    AWK = "awk"
    """From its arguments only, never from its input."""
    OTHER = "other"

    __hash__ = object.__hash__


class Program(Struct, frozen=True):
    """What the engine knows of one program, or of several that are alike."""

    names: str

    # Files.
    accesses: Accesses | None = None
    """Files and directories that it reads, writes or removes according to its arguments; without
    it, whatever looks like a path is held against rules, and `--output` is written."""
    changes_settings: Callable[[Sequence[Word]], str] | None = None
    """Settings file of the user or the machine that it changes without naming it; "" for none."""
    follows_links: str = ""
    """The short option, and long ones, with which it goes through links."""
    builds: bool = False
    """Changes files of its own choice in the directory that it runs in."""

    # What a rule or a mode may allow.
    risk: Risk | None = None
    risk_check: RiskCheck | None = None
    """Asked before `risk`: why a wildcard rule does not cover the words; "" when it may."""
    risky_words: str = ""
    """Pattern of words that decide what it runs, or where."""
    runs_anything: bool = False
    """No wildcard rule covers it."""
    read_only: ReadOnly | Callable[[Sequence[Word]], bool] | None = None
    """When it provably only reads; None for a program that is never known to."""
    shows_version: bool = False
    """Prints its version without reading the project."""
    edits: bool = False
    """A file command that acceptEdits allows on operands inside the scope."""
    edit_check: Callable[[Sequence[Word]], bool] | None = None
    """Asked in place of the risks: do its words change nothing but the files it is given?"""
    global_valued: str | None = None
    """Letters of options before a subcommand that take a value; None when they are not known."""

    # What it runs.
    wrapper: Wrapper | None = None
    runner: CommandRunner | None = None
    is_shell: bool = False
    commands: Callable[[tuple[Word, ...]], Commands] | None = None
    """The commands that it runs in a way of its own."""
    command_options: str = ""
    """Options whose value is a command."""
    runs_configured: bool = False
    """Runs what the repository of its directory names, even where it only reads."""
    command_words: Callable[[Sequence[Word]], Iterator[str]] | None = None
    """Commands in other words."""
    code: Code | None = None
    """Takes code in which files and commands may be named."""
    code_starts: str = ""
    """Pattern of what runs a command in its code, where it is not a call."""

    shows: str = ""
    """What of the machine it lists, of which a sandbox has its own: `processes` or `ports`."""

    # What users are shown.
    network: str = ""
    """Subcommands that open a connection; `*` for whatever it does."""
    logs_in: bool = False
    """Takes `user@host`."""
    is_root: bool = False
    """Runs its command as another user."""
    discards: Mapping[str, str] = {}
    """By subcommand: options with which it throws work away; "" without any."""
    has_subcommands: bool = False
    """Its second word determines what it does."""
    exact_subcommands: str = ""
    """Subcommands that run programs, bring foreign code or throw work away: never a wildcard."""
    exact_third: str = ""
    """Third words, part of an offer, that cannot be taken back or run something."""
    exact_only: bool = False
    """Runs whatever its arguments name: a wildcard behind it allows everything."""
    checks_project: bool = False
    """Checks or tests what is in the project, whatever its arguments."""


UNKNOWN_PROGRAM = Program("")
