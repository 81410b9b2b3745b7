"""What the screen needs of a conversation, and what the conversation's factory needs of the screen.

`agent.conversation.conversation.Conversation` implements `ConversationPort`; tests drive the app
with recorded events through the same protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agent.conversation_facts import ConversationStatus, SessionFacts

if TYPE_CHECKING:
    from pathlib import Path

    # For annotations only: this module is imported before the first frame.
    from agent.commands.service import CommandService
    from agent.display import Display
    from agent.events import AgentEvent
    from agent.history import HistoryPart
    from agent.model.local_servers import LocalServer
    from agent.session.checkpoints.checkpoint import Checkpoints, Preview, RestoreResult
    from agent.session.rewind import RewindPoint
    from agent.tools.services import AskUser
    from agent.user_prompt import Prompt
    from permissions.mode import Mode
    from permissions.resolve.contender import Contender
    from tui.dialogs.dialog import ShowDialog
    from tui.dialogs.onboarding import LocalModel, Onboarding
    from tui.dialogs.trust_dialog import TrustRequest


class SessionReading(SessionFacts, Protocol):
    """The session, as the screen reads it."""

    @property
    def branch(self) -> str | None:
        """The git branch; None outside a repository."""
        ...

    def preview_of(self, tool_use_id: str) -> Display | None:
        """Return what a waiting call would do."""
        ...


class PromptQueuePort(Protocol):
    """What the user has for the model later: queued prompts, notes, the draft."""

    @property
    def prompts(self) -> Sequence[Prompt]:
        """Queued prompts, oldest first."""
        ...

    def add(self, prompt: Prompt) -> None:
        """Queue a prompt."""
        ...

    def take_back(self) -> list[Prompt]:
        """Return all queued prompts and empty the queue."""
        ...

    def take_next(self) -> Prompt | None:
        """Remove and return the oldest queued prompt; None if there is none."""
        ...

    def add_note(self, text: str) -> None:
        """Add a text to the next prompt."""
        ...

    def save_draft(self, text: str) -> None:
        """Record the half-typed prompt."""
        ...


class RewindingPort(Protocol):
    """Going back in a conversation."""

    async def points(self) -> Sequence[RewindPoint]:
        """Return the prompts that can be rewound to, oldest first. Raises AgentError."""
        ...

    async def preview_files(self, turn_id: str) -> Preview | None:
        """Return how restoring the files from before a turn would change them; None: not at all."""
        ...

    async def restore_files(self, turn_id: str) -> RestoreResult | None:
        """Restore files as they were before a turn. Raises AgentError."""
        ...

    async def undo_edits(self, tool_use_ids: Sequence[str]) -> RestoreResult:
        """Undo the edits of these calls, also while a prompt runs. Raises AgentError."""
        ...

    async def rewind(self, prompt_uid: str) -> str:
        """Rewind to before a message; return its text. Raises AgentError."""
        ...

    @property
    def checkpoints(self) -> Checkpoints | None:
        """Copies of files from before each prompt; None if they are not stored."""
        ...


class ControlsPort(Protocol):
    """What the user does with a conversation apart from prompts."""

    def interrupt(self, reason: str = ...) -> bool:
        """End the running turn; its results remain."""
        ...

    def compact(
        self, focus: str = ..., part: HistoryPart | None = ...
    ) -> AsyncIterator[AgentEvent]:
        """Summarize the history now, or a part of it."""
        ...

    async def set_model(self, model: str) -> str:
        """Use another model from the next request on; return what it cannot read of the history."""
        ...

    def set_thinking(self, is_on: bool) -> bool:
        """Turn the model's thinking on or off; False if the model does not allow that."""
        ...

    def cycle_mode(self) -> Mode:
        """Switch to the next mode."""
        ...

    def move_to(self, directory: Path) -> bool:
        """Work in another directory; False, and nothing changes, outside the scope."""
        ...

    def send_to_background(self) -> bool:
        """Move the running command to the background; False when none runs."""
        ...


class HookSignalsPort(Protocol):
    """Notifications to the user's hooks, and wake-ups by them."""

    @property
    def wants_notifications(self) -> bool:
        """Whether there is a Notification hook."""
        ...

    async def notify(self, kind: str, message: str) -> None:
        """Run the Notification hooks: the program waits for the user."""
        ...

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        """Set the function that is called when a background hook wakes the model."""
        ...

    @property
    def is_woken(self) -> bool:
        """Whether a hook woke the model and the model has not run since."""
        ...


class ConversationPort(Protocol):
    """One conversation, as the screen drives it."""

    @property
    def view(self) -> SessionReading:
        """The session, read-only."""
        ...

    @property
    def status(self) -> ConversationStatus:
        """Model, mode and usage."""
        ...

    @property
    def prompt_queue(self) -> PromptQueuePort:
        """Prompts, notes and the draft that wait for the model."""
        ...

    @property
    def rewinding(self) -> RewindingPort:
        """Rewinds the conversation and its files."""
        ...

    @property
    def controls(self) -> ControlsPort:
        """Interrupts the conversation and changes its settings."""
        ...

    @property
    def hook_signals(self) -> HookSignalsPort:
        """Notifications and wake-ups."""
        ...

    @property
    def commands(self) -> CommandService | None:
        """The slash commands; None if the conversation has none."""
        ...

    def run(self, prompt: Prompt | None) -> AsyncIterator[AgentEvent]:
        """Run a prompt, or with None a turn that a hook requested; the last event is `Terminal`."""
        ...


class AskTrust(Protocol):
    """Asks whether the user trusts a folder."""

    async def __call__(self, request: TrustRequest) -> bool:
        """Return the answer; False when the dialog was closed."""
        ...


class AskOnboarding(Protocol):
    """Asks what to do without credentials, or without a model."""

    async def __call__(
        self, server: LocalServer | None = None, *, obstacle: str = ""
    ) -> Onboarding | LocalModel:
        """Return what the user chose; with `server`, one of its models.

        `obstacle`: why the configured model cannot be used.
        """
        ...


class ScreenPorts(Struct, frozen=True):
    """What the screen offers to the factory of the conversation."""

    contender: Contender
    """The permission dialog."""
    user: AskUser
    """Answers questions and plans."""
    trust: AskTrust
    onboarding: AskOnboarding
    show: ShowDialog
    """Shows any other dialog."""


MakeConversation = Callable[[ScreenPorts], Awaitable[ConversationPort]]
"""Runs after the first frame. An exception is shown, and ends the program."""


class Release(Protocol):
    """Ends a conversation, so that another one can start."""

    async def __call__(self, session_id: str | None, *, team: str | None = None) -> None:
        """End it; the next one made is the named session, or with None a new one.

        `team` is the team that the next one leads: empty for none, None for the same as before.
        """
        ...
