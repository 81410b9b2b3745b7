"""The conversation as commands use it: send, compact, rewind, change the session, quit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.user_prompt import Prompt
from tui.app.notices import Notices
from tui.app.session.conversation_holder import BUSY, ConversationHolder
from tui.app.session.prompt_runner import PromptRunner
from tui.ports.conversation import ConversationPort
from tui.prompt.draft_autosave import DraftAutosave
from tui.transcript.earlier_pages import EarlierPages
from tui.transcript.transcript_model import TranscriptModel
from tui.transcript.transcript_widget import TranscriptWidget

if TYPE_CHECKING:
    from agent.commands.command_registry import CommandRegistry
    from agent.commands.service import CommandService
    from agent.history import HistoryPart
    from agent.messages import Message


class ExitReport(Struct, frozen=True):
    """What the entry point prints after the screen has closed."""

    session_id: str | None
    last_answer: str
    error: str = ""
    """Why the program could not continue; "" if the user quit."""


class ScreenSession:
    """Implements `tui.ports.command_screen.SessionControl`."""

    def __init__(
        self,
        conversations: ConversationHolder,
        runner: PromptRunner,
        document: TranscriptModel,
        past: EarlierPages,
        transcript: TranscriptWidget,
        drafts: DraftAutosave,
        notices: Notices,
        show: Callable[[], None],
        start_worker: Callable[[Awaitable[None]], None],
        end: Callable[[ExitReport], None],
    ) -> None:
        """`show` shows the document; `end` ends the program."""
        self._conversations = conversations
        self._runner = runner
        self._document = document
        self._past = past
        self._transcript = transcript
        self._drafts = drafts
        self._notices = notices
        self._show = show
        self._start_worker = start_worker
        self._end = end

    @property
    def conversation(self) -> ConversationPort | None:
        """The conversation; None until it is made."""
        return self._conversations.current

    @property
    def commands(self) -> CommandService | None:
        """The conversation's command service; None without a conversation."""
        return self._conversations.commands

    @property
    def registry(self) -> CommandRegistry:
        """The commands that can be typed now."""
        return self._conversations.registry

    def send(self, text: str) -> None:
        """Send a prompt, which may begin with `/` or `!`, to the model."""
        self._runner.submit(Prompt(text))
        self._transcript.to_end()
        self._show()

    def leave(self, error: str = "") -> None:
        """End the program; the report is printed on the normal screen."""
        self._drafts.settle()
        session_id = self.conversation.view.session_id if self.conversation is not None else None
        self._end(ExitReport(session_id, self._document.last_answer, error))

    async def restart(self, session_id: str | None, *, team: str | None = None) -> bool:
        """Replace the conversation by another session or a new one; False if that is not possible.

        `team`: see `tui.ports.conversation.Release`.
        """
        # Otherwise the command itself would be stored as a draft of the old session.
        self._drafts.settle()
        why_not = await self._conversations.change(session_id, team=team)
        if why_not:
            self._notices.warn(why_not)
        return not why_not

    def compact(self, focus: str, part: HistoryPart | None = None) -> None:
        """Summarize the history, or a part of it."""
        if self.conversation is None:
            return
        if part is not None and self._runner.is_running:
            self._notices.warn(BUSY)
        elif not self._runner.run_events(self.conversation.controls.compact(focus, part)):
            self._notices.notice("The conversation will be compacted after this turn.")

    def show_history(self, messages: Sequence[Message]) -> None:
        """Show the conversation again, as it is after a rewind."""
        self._document.clear()
        # From the session's file if there is one: it also contains the changes of calls.
        path = self.commands.context.session.transcript_path if self.commands is not None else None
        if path is None or not path.is_file():
            self._document.restore(messages)
        else:
            self._start_worker(self._past.open(path))
        self._show()
        if self._transcript.inline is not None:
            # The rows are in the scrollback already.
            self._transcript.inline.scrollback.skip()
