"""Shows agent events on the screen: applies them to the document, and paints once per frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tui.app.bottom_lines import BottomLines
from tui.app.frame_clock import EventBridge, FrameClock
from tui.app.idle_notification import IdleNotification
from tui.app.main_screen import ScreenRuntime
from tui.status_line.user_status_command import UserStatusCommand
from tui.terminal.bell import TerminalBell
from tui.text.safe_text import shown_line
from tui.transcript.transcript_model import TranscriptModel
from tui.transcript.transcript_widget import TranscriptWidget

if TYPE_CHECKING:
    from agent.events import AgentEvent
    from agent.user_prompt import Prompt
    from permissions.decision import Decision


_TEXT: Final = frozenset({"text_delta", "thinking_delta", "tool_input_delta"})
"""The most frequent events, which change little outside the transcript."""
_SEEN_S: Final = 0.3
"""How long a question must be shown before the user has started to read it."""


class EventPresenter:
    """Has one frame clock for events, and one for highlighting that finishes later."""

    def __init__(
        self,
        runtime: ScreenRuntime,
        document: TranscriptModel,
        transcript: TranscriptWidget,
        lines: BottomLines,
        user_status: UserStatusCommand,
        bridge: EventBridge,
        hint: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """Create the clocks; nothing runs before the first event."""
        self._runtime = runtime
        self._document = document
        self._transcript = transcript
        self._lines = lines
        self._user_status = user_status
        self._bridge = bridge
        self._hint = hint
        self._clock = clock
        self._only_text_came = True
        self._only_text_grew = False
        self._asked_at_s: dict[str, float] = {}
        self._highlight_clock = FrameClock(self._show_highlights)

    def stop(self) -> None:
        """Stop painting."""
        self._bridge.clock.stop()
        self._highlight_clock.stop()

    def show(self) -> None:
        """Show what changed in the document."""
        if not self._runtime.is_live:
            return
        new_count = self._document.take_added_before()
        if new_count:
            self._transcript.add_before(self._document.blocks[:new_count])
        first = self._document.take_first_changed()
        if first is not None:
            self._transcript.show(first, self._document.blocks)
        if self._only_text_grew:
            self._lines.text_grew()
        else:
            self._lines.show()
        self._only_text_grew = False

    def highlights_ready(self) -> None:
        """Request a frame because code was highlighted."""
        self._highlight_clock.request()

    def paint(self) -> None:
        """Show a frame of events."""
        self._only_text_grew = self._only_text_came
        self._only_text_came = True
        self.show()

    def fold(self, event: AgentEvent) -> None:
        """Apply an event to the document, without painting."""
        self._only_text_came = self._only_text_came and event.type in _TEXT
        document = self._document
        if event.type == "permission_requested":
            self._asked_at_s[event.tool_use_id] = self._clock()
        elif event.type == "permission_resolved":
            asked_s = self._clock() - self._asked_at_s.pop(event.tool_use_id, 0.0)
            # A call that was allowed before the question could be read needs no hint.
            is_seen = event.decision.behavior != "allow" or asked_s >= _SEEN_S
            if is_seen and document.is_asking(event.tool_use_id):
                self._show_decider(event.decision)
        self._user_status.observe(event)
        document.apply(event, at_s=self._clock())

    def _show_decider(self, decision: Decision) -> None:
        """Show who decided, if a dialog was closed by something other than the user."""
        if decision.source != "user":
            # Imported after the first frame, and only if a dialog was open.
            from permissions.explain.explain_decision import decider_name

            verb = "allowed" if decision.behavior == "allow" else "denied"
            decider = f"by {decider_name(str(decision.source))}"
            if decision.source == "classifier" and verb == "allowed":
                # Mostly the table of read-only commands, which users need not know about.
                decider = "without asking"
            ground = self._document.reason_of(decision)
            self._hint(f"{verb} {decider}: {shown_line(ground)}")

    def _show_highlights(self) -> None:
        if self._runtime.is_live:
            self._transcript.highlights_ready()


class RunPresenter:
    """Shows the start and end of a turn, also while the window has no focus."""

    def __init__(
        self,
        document: TranscriptModel,
        bridge: EventBridge,
        user_status: UserStatusCommand,
        attention: TerminalBell,
        idle_notification: IdleNotification,
        show: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        """`show` shows the document."""
        self._document = document
        self._bridge = bridge
        self._user_status = user_status
        self._attention = attention
        self._idle_notification = idle_notification
        self._show = show
        self._clock = clock

    def on_start(self, prompt: Prompt) -> None:
        """Show a prompt whose turn starts."""
        self._idle_notification.stop()
        # The last events of the previous turn may still wait for a frame: apply them first.
        self._bridge.flush()
        self._document.add_prompt(prompt.text, at_s=self._clock())
        self._bridge.clock.request()

    def on_end(self, was_interrupted: bool) -> None:
        """Show that the turn has ended."""
        if not was_interrupted:
            self._attention.call("done")
            self._idle_notification.schedule_turn_end()
        self._user_status.plan()
        self._bridge.flush()
        self._document.stop()
        self._show()
