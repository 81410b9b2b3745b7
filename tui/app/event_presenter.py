"""From agent events to what the screen shows: folds them into the document, paints per frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from tui.app.bottom_lines import Lines
from tui.app.frame_clock import EventBridge, FrameClock
from tui.status_line.user_status_command import UserStatusCommand
from tui.text.safe_text import shown_line
from tui.transcript.model import TranscriptModel
from tui.transcript.widget import TranscriptWidget

if TYPE_CHECKING:
    from agent.events import AgentEvent
    from permissions.decision import Decision


_TEXT: Final = frozenset({"text_delta", "thinking_delta", "tool_input_delta"})
"""Events that change little around the transcript, and are most of all."""
_SEEN_S: Final = 0.3
"""How long a question stands before somebody can have begun to read it."""


class EventsHost(Protocol):
    """The screen as events see it."""

    document: TranscriptModel
    transcript: TranscriptWidget
    lines: Lines
    own_status: UserStatusCommand

    @property
    def is_live(self) -> bool: ...
    @property
    def output_is_slow(self) -> bool: ...
    def hint(self, text: str) -> None: ...


class EventsShown:
    """One frame clock for events and one for colours that came later."""

    def __init__(self, host: EventsHost, clock: Callable[[], float]) -> None:
        """Nothing runs before the first event."""
        self._host = host
        self._clock = clock
        self._only_text_came = True
        self._only_text_grew = False
        self._asked_at_s: dict[str, float] = {}
        self.bridge = EventBridge(self._fold, self._paint, lambda: host.output_is_slow)
        self._highlight_clock = FrameClock(self._show_highlights)

    def stop(self) -> None:
        """Paint no more."""
        self.bridge.clock.stop()
        self._highlight_clock.stop()

    def show(self) -> None:
        """Show what changed in the document."""
        host = self._host
        if not host.is_live:
            return
        added = host.document.take_added_before()
        if added:
            host.transcript.add_before(host.document.blocks[:added])
        first = host.document.take_first_changed()
        if first is not None:
            host.transcript.show(first, host.document.blocks)
        if self._only_text_grew:
            host.lines.text_grew()
        else:
            host.lines.show()
        self._only_text_grew = False

    def highlights_ready(self) -> None:
        """Code has been coloured meanwhile."""
        self._highlight_clock.request()

    def _paint(self) -> None:
        self._only_text_grew = self._only_text_came
        self._only_text_came = True
        self.show()

    def _fold(self, event: AgentEvent) -> None:
        self._only_text_came = self._only_text_came and event.type in _TEXT
        document = self._host.document
        if event.type == "permission_requested":
            self._asked_at_s[event.tool_use_id] = self._clock()
        elif event.type == "permission_resolved":
            asked_s = self._clock() - self._asked_at_s.pop(event.tool_use_id, 0.0)
            # What was allowed before anybody could read the question needs no words.
            is_seen = event.decision.behavior != "allow" or asked_s >= _SEEN_S
            if is_seen and document.is_asking(event.tool_use_id):
                self._say_who_decided(event.decision)
        self._host.own_status.observe(event)
        document.apply(event, at_s=self._clock())

    def _say_who_decided(self, decision: Decision) -> None:
        """A dialog that closed by itself must not leave the user guessing."""
        if decision.source != "user":
            # Behind the first frame, and only where a dialog was open.
            from permissions.explain.explain_decision import decider_name

            verb = "allowed" if decision.behavior == "allow" else "denied"
            by = f"by {decider_name(str(decision.source))}"
            if decision.source == "classifier" and verb == "allowed":
                # Mostly the table of what only reads, of which nobody needs to have heard.
                by = "without asking"
            ground = self._host.document.ground_of(decision)
            self._host.hint(f"{verb} {by}: {shown_line(ground)}")

    def _show_highlights(self) -> None:
        if self._host.is_live:
            self._host.transcript.highlights_ready()
