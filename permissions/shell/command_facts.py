"""What rules and scope need to know about one simple command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from permissions.shell.access import Access
from permissions.shell.flow.working_directories import Directories
from permissions.shell.rule_spellings import Form
from permissions.shell.syntax import Redirect, Word

DELETES: Final = "deletes"
MOVES: Final = "moves"


class Plain(Struct, frozen=True):
    """Facts about a command whose patterns, such as `*.py`, certainly expand to no options."""

    risk: str
    is_read_only: bool
    is_edit: bool


class CommandFacts(Struct, frozen=True):
    """One simple command, analyzed through its wrappers."""

    text: str
    """As written, for users."""
    directories: Directories
    allow_forms: tuple[Form, ...]
    """Spellings that an allow rule may match."""
    deny_forms: tuple[Form, ...]
    """Spellings that deny and ask rules match."""
    has_literal_program: bool
    unknown_reason: str
    """Why something that would run is unknown; empty when nothing is."""
    risk: str
    """Why a wildcard rule does not cover it; empty when one may."""
    accesses: tuple[Access, ...]
    inner: tuple[CommandFacts, ...]
    """Commands in texts that it passes to a shell."""
    redirects: tuple[Redirect, ...]
    is_read_only: bool
    is_edit: bool
    is_inert: bool
    """Does nothing that needs permission: `cd`, `true`."""
    looked_through: str
    """Wrappers and assignments, for users; may be empty."""
    when_plain: Plain | None
    """The facts if no file in its directories has a name that begins with a dash."""
    stage: int
    is_late: bool
    """When it runs, as in `Placed`; inside a text that a shell runs, counted from there."""
    repeats: bool = False
    """Whether it is in a loop."""
    unclear: str = ""
    """Why it is not known whether it stays in the working directories; empty when it does."""
    open_values: tuple[Word, ...] = ()
    """Paths that options name, and whose use is not known."""
    runs_configured: bool = False
    """Whether it runs what the repository of its directory names, even if it only reads."""
    takes_code: bool = False
    """Whether it runs its input as code, so that its words do not determine what it does."""

    def with_inner(self) -> Sequence[CommandFacts]:
        """Return the command and those inside it, each before its inner ones."""
        if not self.inner:
            return (self,)
        return [self, *(one for inner in self.inner for one in inner.with_inner())]

    @property
    def loss_verb(self) -> str:
        """What it does to the files that it removes: `deletes` or `moves`."""
        is_move = any(
            form.joined_text and form.head.rpartition("/")[2] == "mv" for form in self.deny_forms
        )
        return MOVES if is_move else DELETES
