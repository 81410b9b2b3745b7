"""Records the draft regularly, so that a crash loses only a few keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.timer import Timer

from tui.ports.conversation import ConversationPort
from tui.status_line.hint import SetTimer

DRAFT_S: Final = 0.25
"""How long after a change the draft is recorded."""
LONG_DRAFT_S: Final = 2.0
LONG_DRAFT: Final = 4_000
"""From this number of characters on, drafts are recorded less often: each record is complete."""


class DraftAutosave:
    """Records the draft a short time after a change; no timer runs without changes."""

    def __init__(
        self,
        conversation: Callable[[], ConversationPort | None],
        draft: Callable[[], str],
        set_timer: SetTimer,
    ) -> None:
        """`conversation` records the draft, which `draft` returns at that time."""
        self._conversation = conversation
        self._draft = draft
        self._set_timer = set_timer
        self._timer: Timer | None = None

    def schedule(self) -> None:
        """Schedule a record, because the draft has changed."""
        if self._timer is None and self._conversation() is not None:
            wait_s = DRAFT_S if len(self._draft()) < LONG_DRAFT else LONG_DRAFT_S
            self._timer = self._set_timer(wait_s, self.save)

    def conversation_changed(self) -> None:
        """Schedule a record of a draft that was typed before the conversation existed."""
        if self._draft():
            self.schedule()

    def settle(self) -> None:
        """Record a scheduled draft now, because the conversation is about to be replaced."""
        if self._timer is not None:
            self._timer.stop()
            self.save()

    def save(self) -> None:
        """Record the draft now."""
        self._timer = None
        conversation = self._conversation()
        if conversation is not None:
            conversation.prompt_queue.save_draft(self._draft())
