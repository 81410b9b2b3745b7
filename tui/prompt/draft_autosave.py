"""Has the half-typed prompt recorded now and then, so that a crash costs a few keys at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.timer import Timer

from tui.ports.conversation import ConversationPort
from tui.status_line.hint import SetTimer

DRAFT_S: Final = 0.25
"""How much typing a crash may cost."""
LONG_DRAFT_S: Final = 2.0
LONG_DRAFT: Final = 4_000
"""Characters from which on a draft is recorded less often: every record contains all of it."""


class DraftAutosave:
    """No timer runs while nothing is typed."""

    def __init__(
        self,
        conversation: Callable[[], ConversationPort | None],
        draft: Callable[[], str],
        set_timer: SetTimer,
    ) -> None:
        """Take who records the draft, and the draft as it will be then."""
        self._conversation = conversation
        self._draft = draft
        self._set_timer = set_timer
        self._timer: Timer | None = None

    def schedule(self) -> None:
        """The draft has changed."""
        if self._timer is None and self._conversation() is not None:
            wait_s = DRAFT_S if len(self._draft()) < LONG_DRAFT else LONG_DRAFT_S
            self._timer = self._set_timer(wait_s, self.save)

    def conversation_changed(self) -> None:
        """Have recorded soon what was typed before there was a conversation."""
        if self._draft():
            self.schedule()

    def settle(self) -> None:
        """Record now what would be recorded soon: the conversation is about to go."""
        if self._timer is not None:
            self._timer.stop()
            self.save()

    def save(self) -> None:
        """Record the draft now."""
        self._timer = None
        conversation = self._conversation()
        if conversation is not None:
            conversation.prompt_queue.save_draft(self._draft())
