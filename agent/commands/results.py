"""What a local command asks for: values that one place acts on (the screen, or a headless run)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True)
class ShowText:
    """Text for the person; the model does not see it."""

    text: str
    level: Literal["info", "warning"] = "info"
    is_about_screen: bool = False
    """Whether the screen adds what it knows of itself."""


@lazy_dataclass(frozen=True, slots=True)
class Leave:
    """End the program."""


@lazy_dataclass(frozen=True, slots=True)
class ClearConversation:
    """Go on with an empty conversation; the old one stays resumable."""


@lazy_dataclass(frozen=True, slots=True)
class Compact:
    """Summarise the history."""

    focus: str = ""


@lazy_dataclass(frozen=True, slots=True)
class CopyText:
    """Put text on the clipboard."""

    text: str
    said: str = "copied"


@lazy_dataclass(frozen=True, slots=True)
class EditFile:
    """Open a file in the person's editor."""

    path: Path
    said: str = ""


@lazy_dataclass(frozen=True, slots=True)
class SendPrompt:
    """Send a prompt, as if the person had typed it."""

    text: str


@lazy_dataclass(frozen=True, slots=True)
class OpenPanel:
    """Open a panel of the screen."""

    panel: str
    argument: str = ""


@lazy_dataclass(frozen=True, slots=True)
class OpenSession:
    """Leave this conversation for another session."""

    session_id: str
    said: str = ""
    """Shown once it is open."""


@lazy_dataclass(frozen=True, slots=True)
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
