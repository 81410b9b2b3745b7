"""Keys that control the conversation: mode, thinking, background, copying the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tui.app.session.conversation_holder import ConversationHolder
from tui.status_line.user_status_command import UserStatusCommand
from tui.transcript.transcript_model import TranscriptModel


class ConversationKeys:
    """One method per action; those that return False leave the key to others."""

    def __init__(
        self,
        conversations: ConversationHolder,
        document: TranscriptModel,
        user_status: UserStatusCommand,
        hint: Callable[[str], None],
        show_lines: Callable[[], None],
        copy: Callable[[str], None],
    ) -> None:
        """`copy` puts text on the clipboard."""
        self._conversations = conversations
        self._document = document
        self._user_status = user_status
        self._hint = hint
        self._show_lines = show_lines
        self._copy = copy

    def actions(self) -> Mapping[str, Callable[[], object]]:
        """Return the methods by action id."""
        return {
            "chat:cycleMode": self.cycle_mode,
            "chat:thinkingToggle": self.toggle_thinking,
            "chat:copyAnswer": self.copy_answer,
            "chat:copyCode": self.copy_code,
            "task:background": self.to_background,
        }

    def cycle_mode(self) -> None:
        """Switch to the next permission mode."""
        if self._conversations.cycle_mode() is not None:
            self._user_status.plan()
            self._show_lines()

    def to_background(self) -> bool:
        """Move the running command to the background; False if none runs."""
        conversation = self._conversations.current
        if conversation is None or not conversation.controls.send_to_background():
            return False
        self._hint("moved to the background · /tasks")
        return True

    def toggle_thinking(self) -> None:
        """Turn thinking on or off from the next prompt on."""
        conversation = self._conversations.current
        if conversation is None:
            return
        is_on = not conversation.status.thinks
        if conversation.controls.set_thinking(is_on):
            self._user_status.plan()
            self._hint(f"thinking {'on' if is_on else 'off'} from the next prompt")
        else:
            only = "does not think" if is_on else "always thinks; /effort sets how much"
            self._hint(f"{conversation.status.model} {only}")

    def copy_answer(self) -> None:
        """Copy the last answer."""
        if self._document.last_answer:
            self._copy(self._document.last_answer)
            self._hint("answer copied")
        else:
            self._hint("no answer yet")

    def copy_code(self) -> None:
        """Copy the last code block of the last answer."""
        from permissions.base.text.code_blocks import code_blocks  # with the first copy

        if blocks := code_blocks(self._document.last_answer):
            self._copy(blocks[-1])
            self._hint("code copied")
        else:
            self._hint("no code in the last answer")
