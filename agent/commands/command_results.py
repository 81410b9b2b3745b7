"""Results of local commands: values that the screen or a headless run acts on."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct


class ShowText(Struct, frozen=True):
    """Text for the user; the model does not see it."""

    text: str
    level: Literal["info", "warning"] = "info"
    is_about_screen: bool = False
    """Whether the screen adds its own details."""


class Leave(Struct, frozen=True):
    """End the program."""


class ClearConversation(Struct, frozen=True):
    """Continue with an empty conversation; the old one stays resumable."""


class Compact(Struct, frozen=True):
    """Summarize the history."""

    focus: str = ""


class CopyText(Struct, frozen=True):
    """Put text on the clipboard."""

    text: str
    notice: str = "copied"


class EditFile(Struct, frozen=True):
    """Open a file in the user's editor."""

    path: Path
    notice: str = ""


class SendPrompt(Struct, frozen=True):
    """Send a prompt, as if the user had typed it."""

    text: str


class OpenPanel(Struct, frozen=True):
    """Open a panel of the screen."""

    panel: str
    argument: str = ""


class OpenSession(Struct, frozen=True):
    """Leave this conversation for another session."""

    session_id: str
    notice: str = ""
    """Shown once it is open."""


class LeadTeam(Struct, frozen=True):
    """Continue with the session as the leader of a team, or without one."""

    team: str
    """Empty for none."""
    session_id: str | None
    """None for a new session."""
    notice: str
    """Shown once it is open."""


class Renamed(Struct, frozen=True):
    """The session has a new name, which the title of the window may show."""

    title: str


CommandResult: TypeAlias = (
    ShowText
    | Leave
    | LeadTeam
    | ClearConversation
    | Compact
    | CopyText
    | EditFile
    | SendPrompt
    | OpenPanel
    | OpenSession
    | Renamed
)
