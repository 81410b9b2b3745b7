"""What a tool call shows a person: small frozen values the screen renders and the dialog
previews."""

from __future__ import annotations

from typing import Literal

from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True)
class TextDisplay:
    """Plain text output; `language` names a highlighter lexer or is None."""

    text: str
    language: str | None = None
    type: Literal["text"] = "text"


@lazy_dataclass(frozen=True, slots=True)
class DiffDisplay:
    """One file's change, whole texts; the screen makes hunks and word marks from them."""

    path: str
    """As shown to people: relative to the launch folder where it lies inside."""
    old: str
    """Empty for a new file (see `is_new`)."""
    new: str
    is_new: bool = False
    first_line: int = 1
    """Number of the line both texts begin with; more than 1 for a piece of a file."""
    type: Literal["diff"] = "diff"


@lazy_dataclass(frozen=True, slots=True)
class CommandDisplay:
    """A shell command with its output so far and, once it ended, its exit status."""

    command: str
    output: str = ""
    exit_code: int | None = None
    background_id: str | None = None
    type: Literal["command"] = "command"


@lazy_dataclass(frozen=True, slots=True)
class TodoItem:
    """One line of the task list."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


@lazy_dataclass(frozen=True, slots=True)
class TodoDisplay:
    """The task list as a whole."""

    items: tuple[TodoItem, ...]
    type: Literal["todos"] = "todos"


@lazy_dataclass(frozen=True, slots=True)
class PlanDisplay:
    """A plan proposed for approval, in Markdown."""

    plan: str
    type: Literal["plan"] = "plan"


Display = TextDisplay | DiffDisplay | CommandDisplay | TodoDisplay | PlanDisplay
