"""The lines between transcript and prompt: current activity and queue. Empty while idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from agent.files.image_mentions import with_image_labels
from themes.theme import Role
from tui.text.styled_rows import BLANK, FAINT, MUTED, Ink, Row, Run, row
from tui.text.wrap import clip
from tui.transcript.block_rows import short_count
from tui.transcript.blocks import Activity
from tui.transcript.tool_card import duration
from tui.widgets.rows_widget import RowsWidget

FRAMES: Final = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")
FRAME_S: Final = 0.12
_REASON_CELLS: Final = 12
"""Minimum width of a retry's reason, in columns."""
_QUEUE_SHOWN: Final = 3

_VERBS: Final = {
    "idle": "",
    "requesting": "Waiting for the model",
    "thinking": "Thinking",
    "writing": "Writing",
    "tools": "Working",
    "asking": "Waiting for you",
    "retrying": "Retrying",
}


class ActivityView(Struct, frozen=True):
    """The content of the lines."""

    activity: Activity
    now_s: float
    frame: int = 0
    queued_prompts: tuple[str, ...] = ()
    interrupting: bool = False
    stop_key: str = "esc"
    background_key: str = ""
    """Key that moves the running command to the background; empty if none runs."""


def activity_rows(view: ActivityView, width_cells: int, *, has_room: bool = True) -> list[Row]:
    """Return a blank row with `has_room`, a spinner line while working, and the queued prompts."""
    rows: list[Row] = [BLANK] if has_room else []
    if view.activity.is_working:
        rows.append(Row(clip(_spinner(view, width_cells - 1), width_cells - 1), is_copied=False))
    for text in view.queued_prompts[:_QUEUE_SHOWN]:
        line = " ".join(with_image_labels(text).split())
        rows.append(Row(clip([(" › ", FAINT), (line, MUTED)], width_cells - 1), is_copied=False))
    if view.queued_prompts:
        hidden = len(view.queued_prompts) - _QUEUE_SHOWN
        more = f"{hidden} more · " if hidden > 0 else ""
        hint = clip([(f"   {more}queued · ↑ to edit", MUTED)], width_cells - 1)
        rows.append(row(*hint, is_copied=False))
    return rows


def _spinner(view: ActivityView, width: int) -> list[Run]:
    activity = view.activity
    sign = FRAMES[view.frame % len(FRAMES)]
    elapsed_s = max(0.0, view.now_s - activity.started_at_s)
    if activity.retry is not None:
        retry = activity.retry
        remaining_s = max(0.0, retry.until_s - view.now_s)
        stop = f" · {view.stop_key} to stop" if view.stop_key else ""
        of = f" of {retry.max_attempts}" if retry.max_attempts else ""
        when = f" · retry {retry.attempt - 1}{of} in {remaining_s:.0f} s{stop}"
        # A long reason is cut off, so that the time and the key to stop remain visible.
        room = max(_REASON_CELLS, width - 3 - len(when))
        reason = clip([(retry.reason, Ink(Role.WARNING))], room)
        return [(f" {sign} ", Ink(Role.WARNING)), *reason, (when, MUTED)]
    verb = "Interrupting" if view.interrupting else _VERBS[activity.phase]
    if activity.hook and view.now_s >= activity.hook_shown_from_s and not view.interrupting:
        verb = activity.hook
    facts = [f"{int(elapsed_s)} s" if elapsed_s < 60 else duration(elapsed_s)]
    if activity.output_tokens:
        facts.append(f"↓ {short_count(activity.output_tokens)} tokens")
    if view.stop_key:
        facts.append(f"{view.stop_key} to interrupt")
    if view.background_key:
        facts.append(f"{view.background_key} to background")
    return [
        (f" {sign} ", Ink(Role.ACCENT)),
        (f"{verb}… ", Ink(Role.TEXT)),
        (" · ".join(facts), MUTED),
    ]


class ActivityLine(RowsWidget):
    """Shows an `ActivityView`."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start with an idle view."""
        super().__init__(id=id)
        self.view = ActivityView(Activity(), 0.0)

    def show(self, view: ActivityView) -> None:
        """Show another view."""
        if view != self.view:
            self.view = view
            self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the rows."""
        return activity_rows(self.view, width_cells, has_room=self.app.size.height >= 12)
