"""What a tool call shows a user: small frozen values the screen renders and the dialog
previews."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class TextDisplay(Struct, frozen=True):
    """Plain text output; `language` names a highlighter lexer or is None."""

    text: str
    language: str | None = None
    type: Literal["text"] = "text"


class DiffDisplay(Struct, frozen=True):
    """One file's change, whole texts; the screen makes hunks and word marks from them."""

    path: str
    """As shown to users: relative to the launch directory where it is inside."""
    old: str
    """Empty for a new file (see `is_new`)."""
    new: str
    is_new: bool = False
    first_line: int = 1
    """Number of the line both texts begin with; more than 1 for a piece of a file."""
    type: Literal["diff"] = "diff"


class CommandDisplay(Struct, frozen=True):
    """A shell command with its output so far and, once it ended, its exit status."""

    command: str
    output: str = ""
    exit_code: int | None = None
    background_id: str | None = None
    type: Literal["command"] = "command"


class TodoItem(Struct, frozen=True):
    """One line of the task list."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


class TodoDisplay(Struct, frozen=True):
    """The task list as a whole."""

    items: tuple[TodoItem, ...]
    type: Literal["todos"] = "todos"


class PlanDisplay(Struct, frozen=True):
    """A plan proposed for approval, in Markdown."""

    plan: str
    type: Literal["plan"] = "plan"


class WorkflowDisplay(Struct, frozen=True, kw_only=True):
    """A workflow before it starts: what it does, and what it may use."""

    name: str
    description: str = ""
    phases: tuple[str, ...] = ()
    subtasks: tuple[str, ...] = ()
    """Empty for a script."""
    most_agents: int
    """Maximum number of agents that it starts."""
    at_once: int
    agents_left: int
    """How many more agents this session may start."""
    budget_usd: float | None = None
    earlier_runs: int = 0
    """Number of runs of the same name in the journal."""
    earlier_agents: int = 0
    """Total number of agents that those runs started."""
    earlier_usd: float | None = None
    """Their total cost in US dollars; None if unknown."""
    mode: str = ""
    """Permission mode; no agent may do more than it permits."""
    path: str = ""
    """The script's file, as shown to users; empty if there is none."""
    script: str = ""
    resumes: str = ""
    """Id of the run whose finished agents' results it reuses."""
    last_script: str | None = None
    """The script as it last ran under this name; None if it never ran."""
    type: Literal["workflow"] = "workflow"


Display = TextDisplay | DiffDisplay | CommandDisplay | TodoDisplay | PlanDisplay | WorkflowDisplay
