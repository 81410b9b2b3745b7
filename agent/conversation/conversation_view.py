"""Read-only views of a conversation: its history, model, mode and cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from agent.abort import AbortController
from agent.conversation.conversation_ports import ConversationParts
from agent.display import Display, TodoItem
from agent.events import Usage
from agent.memory.context_breakdown import ContextBreakdown, context_breakdown
from agent.messages import Message
from permissions.mode import Mode

if TYPE_CHECKING:
    from agent.observe.ledger import Costs


class ConversationState(Struct):
    """The mutable state of a conversation."""

    messages: tuple[Message, ...]
    """The history as the model knows it."""
    has_opening: bool
    """Whether the model has received the opening of the conversation."""
    turn_id: str = ""
    """The prompt being worked on, or the last one; empty before the first."""
    abort: AbortController | None = None
    """None if no turn is running."""
    closing: AbortController | None = None
    """Ends the hooks of SessionEnd; None if none run."""
    notes: list[str] = field(default_factory=list)
    """Notes for the model before the next prompt."""
    news: list[str] = field(default_factory=list)
    """Notes for the model with the next request of this turn, or before the next prompt."""


class ConversationView:
    """Read access to the current state of one conversation."""

    def __init__(self, parts: ConversationParts, state: ConversationState) -> None:
        """Show these parts and this state."""
        self._parts = parts
        self._state = state

    @property
    def costs(self) -> Costs | None:
        """Costs of the session; None if they are not recorded."""
        return self._parts.costs

    @property
    def session_id(self) -> str:
        """The session's identifier, for `-r`."""
        return self._parts.recorder.session_id

    @property
    def is_unused_copy(self) -> bool:
        """Whether the session is an unchanged copy, which is removed at the end of the program."""
        return self._parts.recorder.is_unused_copy

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as the model knows it."""
        return self._state.messages

    @property
    def transcript_path(self) -> Path:
        """The session's file."""
        return self._parts.recorder.transcript_path

    @property
    def turn_id(self) -> str:
        """The prompt being worked on, or the last one; empty before the first."""
        return self._state.turn_id

    @property
    def prompts(self) -> tuple[Message, ...]:
        """The user's own messages in the history, oldest first; `rewind` accepts them."""
        return tuple(m for m in self._state.messages if m.origin == "person")

    @property
    def launch_dir(self) -> Path:
        """The directory in which the program was started."""
        return self._parts.identity.launch_dir

    @property
    def cwd(self) -> Path:
        """The shell's current directory."""
        return self._parts.cwd()

    @property
    def branch(self) -> str | None:
        """The git branch at start; None outside a repository."""
        return self._parts.identity.branch

    @property
    def is_demo(self) -> bool:
        """Whether the scripted demo model answers."""
        return self._parts.identity.is_demo

    @property
    def todos(self) -> tuple[TodoItem, ...]:
        """The task list as last written."""
        return self._parts.todos()

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the model's tools."""
        return self._parts.tool_names

    @property
    def is_running(self) -> bool:
        """Whether a turn is running."""
        return self._state.abort is not None

    def context_breakdown(self) -> ContextBreakdown:
        """Return the usage of the model's window by part."""
        request = self._parts.ports.request(self.messages)
        return context_breakdown(
            request.system,
            request.tools,
            self.messages,
            window=self._parts.totals.context_window,
            measured_tokens=self._parts.totals.context_tokens,
        )

    def preview_of(self, tool_use_id: str) -> Display | None:
        """Return the preview of a call that waits for permission, for the dialog."""
        return self._parts.previews.get(tool_use_id)


class StatusView:
    """Current model, mode and usage of one conversation."""

    def __init__(self, parts: ConversationParts) -> None:
        """Show these parts."""
        self._parts = parts

    @property
    def model(self) -> str:
        """The model in use."""
        return self._parts.model()

    @property
    def effort(self) -> str | None:
        """The effort asked for; None is the model's default."""
        return self._parts.effort()

    @property
    def can_think(self) -> bool:
        """Whether the model can think before it answers."""
        return self._parts.switch.can_think

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers."""
        return self._parts.switch.thinks

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._parts.gate.mode

    @property
    def usage(self) -> Usage:
        """Tokens of the whole session."""
        return self._parts.totals.usage

    @property
    def cost_usd(self) -> float:
        """Cost of the whole session in US dollars, by the price table."""
        return self._parts.totals.cost_usd

    @property
    def context_tokens(self) -> int:
        """Size of the context that the next request starts from, in tokens."""
        return self._parts.totals.context_tokens

    @property
    def context_window(self) -> int:
        """Context window of the model, in tokens."""
        return self._parts.totals.context_window

    @property
    def max_output_tokens(self) -> int:
        """Longest answer of the model, in tokens."""
        return self._parts.switch.max_output_tokens
