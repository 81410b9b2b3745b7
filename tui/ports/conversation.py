"""What the screen needs of a conversation, and what the conversation's maker needs of the screen.

`agent.conversation.conversation.Conversation` fits `ConversationPort`; tests drive the app with
recorded events through the same protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agent.conversation_facts import ConversationStatus, SessionFacts

if TYPE_CHECKING:
    from pathlib import Path

    # For annotations alone: this module is part of the way to the first frame.
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
    """What the user has for the model later: prompts that wait, notes, the draft."""

    @property
    def prompts(self) -> Sequence[Prompt]:
        """Prompts that wait, oldest first."""
        ...

    def add(self, prompt: Prompt) -> None:
        """Queue a prompt."""
        ...

    def take_back(self) -> list[Prompt]:
        """Return all queued prompts and empty the queue."""
        ...

    def take_next(self) -> Prompt | None:
        """Take the oldest queued prompt."""
        ...

    def add_note(self, text: str) -> None:
        """Add something to the next prompt."""
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
        """Return what going back to before a turn would change in files; None for nothing."""
        ...

    async def restore_files(self, turn_id: str) -> RestoreResult | None:
        """Put files back as they were before a turn. Raises AgentError."""
        ...

    async def undo_edits(self, tool_use_ids: Sequence[str]) -> RestoreResult:
        """Take back what calls made of files, also while a prompt runs. Raises AgentError."""
        ...

    async def rewind(self, prompt_uid: str) -> str:
        """Rewind to before a message; return its text. Raises AgentError when it cannot."""
        ...

    @property
    def checkpoints(self) -> Checkpoints | None:
        """The files as they were before each prompt; None where nothing stores them."""
        ...


class ControlsPort(Protocol):
    """What the user does with a conversation beside prompts."""

    def interrupt(self, reason: str = ...) -> bool:
        """End the running turn; its results remain."""
        ...

    def compact(
        self, focus: str = ..., part: HistoryPart | None = ...
    ) -> AsyncIterator[AgentEvent]:
        """Summarize the history now, or a part of it."""
        ...

    async def set_model(self, model: str) -> str:
        """Use another model from the next request on; return what of the history it cannot read."""
        ...

    def set_thinking(self, is_on: bool) -> bool:
        """Have the model think, or not; False where it can do only the other."""
        ...

    def cycle_mode(self) -> Mode:
        """Switch to the next mode."""
        ...

    def move_to(self, directory: Path) -> bool:
        """Work in another directory; False, and where it was, when that is outside of what is."""
        ...

    def send_to_background(self) -> bool:
        """Move the running command to the background; False when none runs."""
        ...


class HookSignalsPort(Protocol):
    """What the user's hooks and the screen have to do with each other."""

    @property
    def wants_notifications(self) -> bool:
        """Whether a hook listens for the moments in which the user is waited for."""
        ...

    async def notify(self, kind: str, message: str) -> None:
        """Notify Notification hooks that the program waits for the user."""
        ...

    def listen_for_wake(self, on_wake: Callable[[], None]) -> None:
        """Set what is called when a background hook wakes the model."""
        ...

    @property
    def is_woken(self) -> bool:
        """Whether a hook has, and the model has not run since."""
        ...


class ConversationPort(Protocol):
    """One conversation, as the screen drives it."""

    @property
    def view(self) -> SessionReading:
        """The session and its place."""
        ...

    @property
    def status(self) -> ConversationStatus:
        """Model, mode and use."""
        ...

    @property
    def prompt_queue(self) -> PromptQueuePort:
        """What waits for the model."""
        ...

    @property
    def rewinding(self) -> RewindingPort:
        """Takes it back."""
        ...

    @property
    def controls(self) -> ControlsPort:
        """Changes it."""
        ...

    @property
    def hook_signals(self) -> HookSignalsPort:
        """Notifications and wakes."""
        ...

    @property
    def commands(self) -> CommandService | None:
        """What can be typed after `/`; None where there is nothing behind it."""
        ...

    def run(self, prompt: Prompt | None) -> AsyncIterator[AgentEvent]:
        """Work on a prompt, or on what a hook woke the model for; `Terminal` is the last event."""
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
        """Return what the user chose; of the models of the server they named, if they did.

        `obstacle`: what keeps the model that they configured from being used.
        """
        ...


class ScreenPorts(Struct, frozen=True):
    """What the screen offers to the factory of the conversation."""

    contender: Contender
    """The permission dialog."""
    user: AskUser
    """Questions and plans."""
    trust: AskTrust
    onboarding: AskOnboarding
    show: ShowDialog
    """Shows any other dialog."""


MakeConversation = Callable[[ScreenPorts], Awaitable[ConversationPort]]
"""Runs after the first frame. What it raises is shown, and ends the program."""


class Release(Protocol):
    """Ends a conversation for another one."""

    async def __call__(self, session_id: str | None, *, team: str | None = None) -> None:
        """End it, so that the next one made is the named session, or a new one.

        `team` is the one that it leads: empty for none, None for the same as before.
        """
        ...
