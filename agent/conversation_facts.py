"""Read-only facts about a conversation, for commands, panels and the screen.

Imports nothing at run time, because the first frame of the screen waits for this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

    from agent.display import TodoItem
    from agent.messages import Message
    from permissions.mode import Mode


class SessionFacts(Protocol):
    """The session; implemented by `agent.conversation.conversation_view.ConversationView`."""

    @property
    def session_id(self) -> str:
        """The session's identifier, as the resume command takes it."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as the model knows it."""
        ...

    @property
    def launch_dir(self) -> Path:
        """Where the program was started."""
        ...

    @property
    def cwd(self) -> Path:
        """The shell's current directory."""
        ...

    @property
    def is_demo(self) -> bool:
        """Whether the scripted demo model answers."""
        ...

    @property
    def todos(self) -> tuple[TodoItem, ...]:
        """The task list."""
        ...


class ConversationStatus(Protocol):
    """Model, mode and usage; implemented by `agent.conversation.conversation_view.StatusView`."""

    @property
    def model(self) -> str:
        """The model in use."""
        ...

    @property
    def effort(self) -> str | None:
        """The effort asked for; None leaves it to the model."""
        ...

    @property
    def can_think(self) -> bool:
        """Whether the model can think before it answers."""
        ...

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers."""
        ...

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        ...

    @property
    def cost_usd(self) -> float:
        """Cost of the whole session in US dollars."""
        ...

    @property
    def context_tokens(self) -> int:
        """Size of the context that the next request starts from, in tokens."""
        ...

    @property
    def context_window(self) -> int:
        """How many tokens the model can take."""
        ...


class ServerSummary(Struct, frozen=True):
    """The MCP servers, as a run without a screen reports them."""

    states: tuple[tuple[str, str], ...] = ()
    """Name and state of each."""
    tools: tuple[str, ...] = ()
    """Names of their tools."""
    errors: tuple[Mapping[str, str], ...] = ()
    """Entries that cannot be used: `name`, `type`, `message`."""
