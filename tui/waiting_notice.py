"""Tells Notification hooks once the person has been waited for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from textual.timer import Timer

from tui.conversation_port import ConversationPort
from tui.hint import SetTimer

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
    ) -> None:
        """Take the conversation whose hooks are told."""
        self._conversation = conversation
        self._set_timer = set_timer
        self._start_worker = start_worker
        self._timer: Timer | None = None
        self._planned = ("", 0.0, "")

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
        if self._timer is not None:
            self._plan(*self._planned)

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
        self._planned = (kind, after_s, message)

        def tell() -> None:
            self._timer = None
            self._start_worker(conversation.notify(kind, message))

        self._timer = self._set_timer(after_s, tell)
