"""Runs Notification hooks when the program has waited for the user for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from textual.timer import Timer

from tui.ports.conversation import ConversationPort
from tui.status_line.hint import SetTimer

ASK_NOTICE_S: Final = 6.0
IDLE_NOTICE_S: Final = 60.0
"""How long the prompt waits for the user after a turn before hooks run."""


class IdleNotification:
    """Schedules at most one notification; without a Notification hook there is no timer."""

    def __init__(
        self,
        conversation: Callable[[], ConversationPort | None],
        set_timer: SetTimer,
        start_worker: Callable[[Awaitable[None]], None],
        clock: Callable[[], float],
    ) -> None:
        """`conversation` returns the one whose hooks run; `clock` returns seconds."""
        self._clock = clock
        self._conversation = conversation
        self._set_timer = set_timer
        self._start_worker = start_worker
        self._timer: Timer | None = None
        self._touched_s = 0.0

    def question_open(self) -> None:
        """Schedule the notification that a question waits for its answer."""
        self._plan("permission_prompt", ASK_NOTICE_S, "Waiting for your answer.")

    def schedule_turn_end(self) -> None:
        """Schedule the notification that the turn is over."""
        self._plan("idle_prompt", IDLE_NOTICE_S, "Waiting for your next request.")

    def postpone(self) -> None:
        """Postpone the notification, because the user is typing."""
        # The timer is not restarted, since this is called for every key.
        self._touched_s = self._clock()

    @property
    def idle_s(self) -> float:
        """Seconds since the last key."""
        return self._clock() - self._touched_s

    def stop(self) -> None:
        """Cancel the notification, because the user has reacted."""
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
