"""What a conversation shows: its history, model, mode, cost and queue, to be read by anybody."""

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
    """What changes during a conversation."""

    messages: tuple[Message, ...]
    """The history as the model knows it."""
    has_opening: bool
    """Whether the model has received the opening of the conversation."""
    turn_id: str = ""
    """The prompt being worked on, or the last one; empty before the first."""
    abort: AbortController | None = None
    """None while nothing runs."""
    notes: list[str] = field(default_factory=list)
    """What the model gets before the next prompt."""
    news: list[str] = field(default_factory=list)
    """What the model gets before the next prompt, or sooner with the next request of this one."""


class ConversationView:
    """The reading side of one conversation, always as it is now."""

    def __init__(self, parts: ConversationParts, state: ConversationState) -> None:
        """Show these parts and this state."""
        self._parts = parts
        self._state = state

    @property
    def costs(self) -> Costs | None:
        """None where they are not added up."""
        return self._parts.costs

    @property
    def session_id(self) -> str:
        """The session's identifier, for `-r`."""
        return self._parts.recorder.session_id

    @property
    def is_unused_copy(self) -> bool:
        """Whether the session is a copy that goes with the program, being as it was made."""
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
        """The user's own messages of the history, oldest first: where `rewind` can go."""
        return tuple(m for m in self._state.messages if m.origin == "person")

    @property
    def launch_dir(self) -> Path:
        """Where the program was started: the scope."""
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
        """The tools the model has."""
        return self._parts.tool_names

    @property
    def is_running(self) -> bool:
        """Whether a prompt is being worked on."""
        return self._state.abort is not None

    def context_breakdown(self) -> ContextBreakdown:
        """Return what fills the model's window, part by part."""
        request = self._parts.ports.request(self.messages)
        return context_breakdown(
            request.system,
            request.tools,
            self.messages,
            window=self._parts.totals.context_window,
            measured_tokens=self._parts.totals.context_tokens,
        )

    def preview_of(self, tool_use_id: str) -> Display | None:
        """Return what a call that waits for permission would do, for the dialog."""
        return self._parts.previews.get(tool_use_id)


class StatusView:
    """Model, mode and use of one conversation, always as they are now."""

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
        """What the next request starts from."""
        return self._parts.totals.context_tokens

    @property
    def context_window(self) -> int:
        """What the model can take, in tokens."""
        return self._parts.totals.context_window
