"""Tells Notification hooks once the user has been waited for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from textual.timer import Timer

from tui.ports.conversation import ConversationPort
from tui.status_line.hint import SetTimer

ASK_NOTICE_S: Final = 6.0
IDLE_NOTICE_S: Final = 60.0
"""How long nobody reacts to a question, or to an answer, before hooks are told."""


class WaitingNotice:
    """At most one notice is planned; without a hook that listens there is no timer."""

    def __init__(
        self,
        conversation: Callable[[], ConversationPort | None],
        set_timer: SetTimer,
        start_worker: Callable[[Awaitable[None]], None],
        clock: Callable[[], float],
    ) -> None:
        """Take the conversation whose hooks are told; `clock` is in seconds."""
        self._clock = clock
        self._conversation = conversation
        self._set_timer = set_timer
        self._start_worker = start_worker
        self._timer: Timer | None = None
        self._touched_s = 0.0

    @property
    def is_planned(self) -> bool:
        """Whether hooks will be told unless somebody reacts."""
        return self._timer is not None

    def question_open(self) -> None:
        """A question waits for its answer."""
        self._plan("permission_prompt", ASK_NOTICE_S, "Waiting for your answer.")

    def run_over(self) -> None:
        """The work is done, and the prompt waits."""
        self._plan("idle_prompt", IDLE_NOTICE_S, "Waiting for your next request.")

    def touched(self) -> None:
        """Somebody types: whoever is there needs no notice yet."""
        # No timer is begun anew here: this is called with every key.
        self._touched_s = self._clock()

    def stop(self) -> None:
        """Somebody has reacted."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _plan(self, kind: str, after_s: float, message: str) -> None:
        self.stop()
        conversation = self._conversation()
        if conversation is None or not conversation.wants_notifications:
            return
        self._touched_s = self._clock()

        def tell() -> None:
            left_s = self._touched_s + after_s - self._clock()
            if left_s > 0:
                self._timer = self._set_timer(left_s, tell)
                return
            self._timer = None
            self._start_worker(conversation.notify(kind, message))

        self._timer = self._set_timer(after_s, tell)
