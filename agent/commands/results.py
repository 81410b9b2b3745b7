"""What a local command asks for: values that one place acts on (the screen, or a headless run)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class ShowText:
    """Text for the person; the model does not see it."""

    text: str
    level: Literal["info", "warning"] = "info"
    is_about_screen: bool = False
    """Whether the screen adds what it knows of itself."""


@dataclass(frozen=True, slots=True)
class Leave:
    """End the program."""


@dataclass(frozen=True, slots=True)
class ClearConversation:
    """Go on with an empty conversation; the old one stays resumable."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Summarise the history."""

    focus: str = ""


@dataclass(frozen=True, slots=True)
class CopyText:
    """Put text on the clipboard."""

    text: str
    said: str = "copied"


@dataclass(frozen=True, slots=True)
class EditFile:
    """Open a file in the person's editor."""

    path: Path
    said: str = ""


@dataclass(frozen=True, slots=True)
class SendPrompt:
    """Send a prompt, as if the person had typed it."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenPanel:
    """Open a panel of the screen."""

    panel: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Leave this conversation for another session."""

    session_id: str
    said: str = ""
    """Shown once it is open."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """The session has a name, which the window may show."""

    title: str


CommandResult: TypeAlias = (
    ShowText
    | Leave
    | ClearConversation
    | Compact
    | CopyText
    | EditFile
    | SendPrompt
    | OpenPanel
    | OpenSession
    | Renamed
)
