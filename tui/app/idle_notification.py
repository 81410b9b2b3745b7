"""Runs Notification hooks once the program has waited for the user for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from textual.timer import Timer

from tui.ports.conversation import ConversationPort
from tui.status_line.hint import SetTimer

ASK_NOTICE_S: Final = 6.0
IDLE_NOTICE_S: Final = 60.0
"""How long the user does not react to a question, or to an answer, before hooks run."""


class IdleNotification:
    """At most one notification is planned; without a hook for it there is no timer."""

    def __init__(
        self,
        conversation: Callable[[], ConversationPort | None],
        set_timer: SetTimer,
        start_worker: Callable[[Awaitable[None]], None],
        clock: Callable[[], float],
    ) -> None:
        """Take the conversation whose hooks run; `clock` is in seconds."""
        self._clock = clock
        self._conversation = conversation
        self._set_timer = set_timer
        self._start_worker = start_worker
        self._timer: Timer | None = None
        self._touched_s = 0.0

    def question_open(self) -> None:
        """A question waits for its answer."""
        self._plan("permission_prompt", ASK_NOTICE_S, "Waiting for your answer.")

    def run_over(self) -> None:
        """The work is done, and the prompt waits."""
        self._plan("idle_prompt", IDLE_NOTICE_S, "Waiting for your next request.")

    def postpone(self) -> None:
        """The user types, and needs no notification yet."""
        # No timer is begun anew here: this is called with every key.
        self._touched_s = self._clock()

    @property
    def idle_s(self) -> float:
        """How long ago the last key was pressed."""
        return self._clock() - self._touched_s

    def stop(self) -> None:
        """The user has reacted."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _plan(self, kind: str, after_s: float, message: str) -> None:
        self.stop()
        conversation = self._conversation()
        if conversation is None or not conversation.hook_signals.wants_notifications:
            return
        self._touched_s = self._clock()

        def notify() -> None:
            left_s = self._touched_s + after_s - self._clock()
            if left_s > 0:
                self._timer = self._set_timer(left_s, notify)
                return
            self._timer = None
            self._start_worker(conversation.hook_signals.notify(kind, message))

        self._timer = self._set_timer(after_s, notify)
