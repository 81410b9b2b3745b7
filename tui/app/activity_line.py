"""The lines between transcript and prompt: current activity and queue. Empty while idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from agent.files.image_mentions import with_image_labels
from themes.theme import Role
from tui.text.styled_rows import BLANK, FAINT, MUTED, Ink, Row, Run, row
from tui.text.wrap import clip, runs_width, wrap
from tui.transcript.block_rows import short_count
from tui.transcript.blocks import Activity, RetryCountdown
from tui.transcript.tool_card import duration
from tui.widgets.rows_widget import RowsWidget

FRAMES: Final = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")
FRAME_S: Final = 0.12
_REASON_CELLS: Final = 12
"""Minimum width of a retry's reason, in columns."""
_REASON_ROWS: Final = 3
"""Maximum height of a retry's reason."""
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
    """Return a blank row with `has_room`, the activity while working, and the queued prompts."""
    rows: list[Row] = [BLANK] if has_room else []
    if view.activity.retry is not None:
        rows += _retry_rows(view, view.activity.retry, width_cells - 1, has_room=has_room)
    elif view.activity.is_working:
        rows.append(Row(clip(_spinner(view), width_cells - 1), is_copied=False))
    for text in view.queued_prompts[:_QUEUE_SHOWN]:
        line = " ".join(with_image_labels(text).split())
        rows.append(Row(clip([(" › ", FAINT), (line, MUTED)], width_cells - 1), is_copied=False))
    if view.queued_prompts:
        hidden = len(view.queued_prompts) - _QUEUE_SHOWN
        more = f"{hidden} more · " if hidden > 0 else ""
        hint = clip([(f"   {more}queued · ↑ to edit", MUTED)], width_cells - 1)
        rows.append(row(*hint, is_copied=False))
    return rows


def _retry_rows(
    view: ActivityView, retry: RetryCountdown, width: int, *, has_room: bool
) -> list[Row]:
    """Return the reason, the time and the key to stop: in one row if they fit or have to."""
    sign: Run = (f" {FRAMES[view.frame % len(FRAMES)]} ", Ink(Role.WARNING))
    remaining_s = max(0.0, retry.until_s - view.now_s)
    stop = f" · {view.stop_key} to stop" if view.stop_key else ""
    of = f" of {retry.max_attempts}" if retry.max_attempts else ""
    when = f"retry {retry.attempt - 1}{of} in {remaining_s:.0f} s{stop}"
    reason: Run = (retry.reason, Ink(Role.WARNING))
    room = width - runs_width([sign])
    one_row_room = room - runs_width([(f" · {when}", MUTED)])
    if runs_width([reason]) <= one_row_room or not has_room:
        cut = clip([reason], max(_REASON_CELLS, one_row_room))
        return [Row(clip([sign, *cut, (f" · {when}", MUTED)], width), is_copied=False)]
    lines = [list(line.runs) for line in wrap([reason], room)]
    if len(lines) > _REASON_ROWS:
        rest = [(" ", reason[1]), *(run for line in lines[_REASON_ROWS:] for run in line)]
        lines[_REASON_ROWS - 1 :] = [list(clip([*lines[_REASON_ROWS - 1], *rest], room))]
    first, *others = (*lines, [*clip([(when, MUTED)], room)])
    indent: Run = ("   ", MUTED)
    return [
        Row((sign, *first), is_copied=False),
        *(Row((indent, *line), is_copied=False) for line in others),
    ]


def _spinner(view: ActivityView) -> list[Run]:
    activity = view.activity
    elapsed_s = max(0.0, view.now_s - activity.started_at_s)
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
        (f" {FRAMES[view.frame % len(FRAMES)]} ", Ink(Role.ACCENT)),
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
