"""The last line of the screen: mode, model, context used, cost, folder and branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from permissions.mode import Mode
from themes.theme import Role
from tui.components.blocks import short_count
from tui.components.ink import FAINT, MUTED, Ink, Row, Run
from tui.components.rows_widget import RowsWidget
from tui.components.wrap import clip, runs_width

MODE_LABELS: Final = {
    Mode.DEFAULT: "⏸ manual mode on",
    Mode.ACCEPT_EDITS: "⏵⏵ accept edits on",
    Mode.PLAN: "⏸ plan mode on",
    Mode.DONT_ASK: "⏵⏵ don't ask on",
    Mode.BYPASS: "⏵⏵ bypass permissions on",
    Mode.AUTO: "⏵⏵ auto mode on",
}
MODE_ROLES: Final = {
    Mode.DEFAULT: Role.MODE_DEFAULT,
    Mode.ACCEPT_EDITS: Role.MODE_ACCEPT_EDITS,
    Mode.PLAN: Role.MODE_PLAN,
    Mode.DONT_ASK: Role.MODE_DONT_ASK,
    Mode.BYPASS: Role.MODE_BYPASS,
    Mode.AUTO: Role.MODE_AUTO,
}
_CONTEXT_WARNING: Final = 0.8
"""Share of the context window from which its figure is coloured."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the line says."""

    mode: Mode = Mode.DEFAULT
    model: str = ""
    effort: str | None = None
    context_tokens: int = 0
    context_window: int = 0
    cost_usd: float = 0.0
    folder: str = ""
    """As shown: `~` for the home folder."""
    branch: str | None = None
    is_demo: bool = False
    hint: str = ""
    """Takes the place of everything but the mode: "press Ctrl+C again to leave"."""


def status_row(status: Status, width_cells: int) -> Row:
    """Return the line; what matters least goes first when there is no room."""
    mode: list[Run] = [
        (" " + MODE_LABELS[status.mode], Ink(MODE_ROLES[status.mode])),
    ]
    if status.hint:
        hint = [*mode, ("  ", MUTED), (status.hint, Ink(Role.WARNING))]
        return Row(clip(hint, width_cells), is_copied=False)
    parts = _parts(status)
    while True:
        right: list[Run] = []
        for part in parts:
            if right:
                right.append(("  ·  " if width_cells >= 100 else " · ", FAINT))
            right.extend(part)
        gap = width_cells - runs_width(mode) - runs_width(right) - 1
        if gap >= 2 or not parts:
            break
        # In the order of _DROPPED: folder, cost, context, and the model last.
        parts.pop(0 if len(parts) > 1 and parts[0][0] is not _DEMO else -1)
    if not parts:
        return Row(clip(mode, width_cells), is_copied=False)
    return Row((*mode, (" " * gap, MUTED), *right), is_copied=False)


_DEMO: Final[Run] = ("demo: scripted model", Ink(Role.WARNING, bold=True))


def _parts(status: Status) -> list[list[Run]]:
    """Return the parts in reading order; the first is the first to go, the demo label stays."""
    parts: list[list[Run]] = []
    if status.is_demo:
        parts.append([_DEMO])
    if status.folder:
        folder: list[Run] = [(status.folder, MUTED)]
        if status.branch:
            folder.append((f" ⎇ {status.branch}", MUTED))
        parts.append(folder)
    if status.cost_usd > 0:
        parts.append([(_money(status.cost_usd), MUTED)])
    if status.context_window and status.context_tokens:
        share = status.context_tokens / status.context_window
        ink = Ink(Role.WARNING) if share >= _CONTEXT_WARNING else MUTED
        parts.append([(f"{short_count(status.context_tokens)} tokens, {share:.0%}", ink)])
    if status.model:
        name = status.model.removeprefix("claude-")
        parts.append([(name + (f" {status.effort}" if status.effort else ""), MUTED)])
    return parts


def _money(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.01 else f"${usd:.4f}"


class StatusLine(RowsWidget):
    """Shows a `Status`."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start with nothing known."""
        super().__init__(id=id)
        self.status = Status()

    def show(self, status: Status) -> None:
        """Show another status."""
        if status != self.status:
            self.status = status
            self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the one row."""
        return [status_row(self.status, width_cells)]
