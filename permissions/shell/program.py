"""`Program`, the engine's record of a program, and the smaller records that it contains.

Lists of options and subcommands are strings separated by blanks; `access.names` reads them.
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
"""Commands among the arguments of a program, and texts that it passes to a shell."""


class Risk(Struct, frozen=True):
    """Options that run programs or write files; no wildcard rule covers them."""

    short: str = ""
    """Letters of risky short options."""
    long: str = ""
    """Risky long options; an abbreviation of one counts too."""
    value_letters: str = ""
    """Letters of other short options that take a value."""
    value_options: str = ""
    single_dash: bool = False
    takes_unknown: bool = False
    """Whether it runs the project's code anyway, so that unknown words are accepted."""
    to_output: str = ""
    """The risky options that are harmless with standard output as their value."""


class ReadOnly(Struct, frozen=True):
    """Options with which a program only reads; with any other option it is not read-only."""

    letters: str = ""
    value_letters: str = ""
    """Letters that take a value."""
    long: str = ""
    check: Callable[[Sequence[Word], Arguments], bool] | None = None
    """A further condition on the words."""


class Wrapper(Struct, frozen=True):
    """How the command that a program runs is found in its arguments."""

    value_letters: str = ""
    """Letters of its own options that take a value."""
    value_options: str = ""
    operands: int = 0
    """Number of its own operands before the command."""
    is_open_to_allow: bool = False
    assignments: bool = False
    """Whether it accepts `NAME=value` before the command."""
    moving: str = ""
    """Options whose value is the directory for the command."""
    losing: str = ""
    """Options that make the directory unknown: another root, a login."""
    loses_directory: bool = False
    supplies: bool = False
    """Whether it appends operands from its input."""


class CommandRunner(Struct, frozen=True):
    """Subcommands that are followed by a command: `uv run`, `docker exec`."""

    subcommands: str
    value_letters: str = "pc"
    """Letters of options between them that take a value."""
    skip: int = 0
    """Number of operands before the command that select where it runs."""
    is_elsewhere: bool = False
    """Whether it runs in a container: its paths are not paths on this machine."""


class Code(Enum):
    """The kind of code in a program's arguments."""

    LANGUAGE = "language"
    DATABASE = "database"
    EDITOR = "editor"
    AWK = "awk"
    """Only in its arguments, never from its input."""
    OTHER = "other"

    __hash__ = object.__hash__


class Program(Struct, frozen=True):
    """Properties of one program, or of several similar ones."""

    names: str

    # Files.
    accesses: Accesses | None = None
    """Files and directories that it reads, writes or removes according to its arguments; if None,
    rules apply to every argument that looks like a path, and `--output` is written."""
    changes_settings: Callable[[Sequence[Word]], str] | None = None
    """Settings file of the user or the machine that it changes although its arguments do not name
    it; "" for none."""
    follows_links: str = ""
    """The short option, and long ones, with which it follows links."""
    builds: bool = False
    """Whether it changes files of its own choice in the directory that it runs in."""

    # What a rule or a mode may allow.
    risk: Risk | None = None
    risk_check: RiskCheck | None = None
    """Called before `risk`: returns why a wildcard rule does not cover the words; "" if it may."""
    risky_words: str = ""
    """Pattern for words that decide what it runs, or where."""
    runs_anything: bool = False
    """Whether no wildcard rule may cover it."""
    read_only: ReadOnly | Callable[[Sequence[Word]], bool] | None = None
    """The condition under which it provably only reads; None if there is no such condition."""
    shows_version: bool = False
    """Whether it prints its version without reading the project."""
    edits: bool = False
    """Whether it is a file command that acceptEdits allows on operands inside the scope."""
    edit_check: Callable[[Sequence[Word]], bool] | None = None
    """Called instead of the risk checks: whether the words change only the files that they name."""
    global_valued: str | None = None
    """Letters of options before a subcommand that take a value; None if they are not known."""

    # What it runs.
    wrapper: Wrapper | None = None
    runner: CommandRunner | None = None
    is_shell: bool = False
    commands: Callable[[tuple[Word, ...]], Commands] | None = None
    """Returns the commands that it runs, for programs with special syntax."""
    command_options: str = ""
    """Options whose value is a command."""
    runs_configured: bool = False
    """Whether it runs what the repository of its directory configures, even if it only reads."""
    command_words: Callable[[Sequence[Word]], Iterator[str]] | None = None
    """Yields the commands in other words."""
    code: Code | None = None
    """The kind of code in its arguments that may name files and commands."""
    code_starts: str = ""
    """Pattern for text that runs a command in its code other than by a call."""

    shows: str = ""
    """What it lists that a sandbox isolates from the machine: `processes` or `ports`."""

    # What users are shown.
    network: str = ""
    """Subcommands that open a connection; `*` for all."""
    logs_in: bool = False
    """Whether it accepts `user@host`."""
    is_root: bool = False
    """Whether it runs its command as another user."""
    discards: Mapping[str, str] = {}
    """By subcommand: options with which it discards work; "" if it always does."""
    has_subcommands: bool = False
    """Whether its second word determines what it does."""
    exact_subcommands: str = ""
    """Subcommands that run programs, install external code or discard work: never offered as a
    wildcard."""
    exact_third: str = ""
    """Third words, part of an offered rule, with which it cannot be undone or runs something."""
    exact_only: bool = False
    """Whether it runs whatever its arguments name: a wildcard after it would allow everything."""
    checks_project: bool = False
    """Whether it checks or tests the project, whatever its arguments."""


UNKNOWN_PROGRAM = Program("")
