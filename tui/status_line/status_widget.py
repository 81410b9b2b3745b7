"""The last lines of the screen: output of the status line command, then mode and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from textual import events

from permissions.confinement import SandboxLevel
from permissions.mode import Mode
from themes.theme import Role
from tui.screen.width import text_width
from tui.text.styled_rows import FAINT, MUTED, Ink, Row, Run
from tui.text.wrap import clip, runs_width
from tui.transcript.block_rows import short_count
from tui.widgets.rows_widget import RowsWidget

if TYPE_CHECKING:
    from permissions.context import SandboxState

MODE_LABELS: Final = {
    Mode.DEFAULT: "⏸ default mode",
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
_SHORT_LABELS: Final = {
    Mode.DEFAULT: "⏸ default",
    Mode.ACCEPT_EDITS: "⏵⏵ edits",
    Mode.PLAN: "⏸ plan",
    Mode.DONT_ASK: "⏵⏵ don't ask",
    Mode.BYPASS: "⏵⏵ bypass",
    Mode.AUTO: "⏵⏵ auto",
}
_NARROW_CELLS: Final = 40
_LOW_SCREEN_ROWS: Final = 12
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_CONTEXT_WARNING: Final = 0.8
"""Fraction of the context window above which its figure is shown as a warning."""


class StatusLineState(Struct, frozen=True):
    """The content of the status line."""

    mode: Mode | None = Mode.DEFAULT
    """The permission mode; None while the settings are being read."""
    model: str = ""
    effort: str | None = None
    context_tokens: int = 0
    context_window: int = 0
    cost_usd: float = 0.0
    directory: str = ""
    """As shown: `~` for the home directory."""
    branch: str | None = None
    is_demo: bool = False
    sandbox: str = ""
    """How commands are confined; "" for the default."""
    orchestrates: bool = False
    """Whether orchestration mode is on."""
    denials: str = ""
    """Recent denials of the model classifier; "" if there are none."""
    running: int = 0
    """Number of commands that run in the background."""
    own: tuple[tuple[Run, ...], ...] = ()
    """Lines that the user's status line command printed; they replace our figures."""
    is_unthinking: bool = False
    """Whether thinking is turned off although the model supports it."""
    hint: str = ""
    """Replaces everything but the mode, as in "press ctrl+c again to quit"."""


def sandbox_text(state: SandboxState) -> str:
    """Return how commands are confined; "" for the default (fully enforced, but not required)."""
    if state.level is not SandboxLevel.FULL:
        return "no sandbox" if state.level is SandboxLevel.NONE else "sandbox: files only"
    if state.is_read_only:
        return "sandbox: read only"
    return "sandbox" if state.runs_inside else ""


def status_row(status: StatusLineState, width_cells: int) -> Row:
    """Return the line; without enough room, the least important parts are left out first."""
    mode: list[Run] = []
    if status.mode is not None:
        mode.append((_mode_label(status.mode, width_cells), Ink(MODE_ROLES[status.mode])))
    if status.sandbox and width_cells >= _NARROW_CELLS:
        mode += [("  ", MUTED), (status.sandbox, MUTED)]
    if status.orchestrates:
        mark = "orchestration" if width_cells >= _NARROW_CELLS else "orch."
        mode += [("  ", MUTED), (f"◆ {mark}", Ink(Role.ACCENT))]
    if status.denials:
        mode += [("  ", MUTED), (status.denials, Ink(Role.WARNING))]
    if status.running and width_cells >= _NARROW_CELLS:
        mode += [("  ", MUTED), (f"{status.running} in background", MUTED)]
    if status.hint:
        hint = [*mode, ("  ", MUTED), (status.hint, Ink(Role.WARNING))]
        return Row(clip(hint, width_cells), is_copied=False)
    if status.own:
        return Row(clip(mode, width_cells), is_copied=False)
    parts = _parts(status, is_narrow=width_cells < _NARROW_CELLS)
    between: Run = ("  ·  " if width_cells >= 100 else " · ", FAINT)
    while True:
        right = [run for part in parts for run in (between, *part)][1:]
        gap = width_cells - runs_width(mode) - runs_width(right) - 1
        if gap >= 2 or not parts:
            break
        # Left out in this order: directory, cost, context, model; the demo label last.
        parts.pop(1 if status.is_demo and len(parts) > 1 else 0)
    if not parts:
        return Row(clip(mode, width_cells), is_copied=False)
    return Row((*mode, (" " * max(1, gap), MUTED), *right), is_copied=False)


def _mode_label(mode: Mode, width_cells: int) -> str:
    labels = _SHORT_LABELS if width_cells < _NARROW_CELLS else MODE_LABELS
    return f" {labels[mode]}"


def _parts(status: StatusLineState, *, is_narrow: bool) -> list[list[Run]]:
    """Return the parts in reading order; the demo label comes first."""
    parts: list[list[Run]] = []
    if status.is_demo:
        label = "demo" if is_narrow else "demo: scripted model"
        parts.append([(label, Ink(Role.WARNING, bold=True))])
    if status.directory:
        directory: list[Run] = [(status.directory, MUTED)]
        if status.branch:
            directory.append((f" ⎇ {status.branch}", MUTED))
        parts.append(directory)
    if status.cost_usd > 0:
        parts.append([(_dollars(status.cost_usd), MUTED)])
    if status.context_window and status.context_tokens:
        share = status.context_tokens / status.context_window
        ink = Ink(Role.WARNING) if share >= _CONTEXT_WARNING else MUTED
        meter = (_meter(share), Ink(Role.WARNING if share >= _CONTEXT_WARNING else Role.SUCCESS))
        tokens = short_count(status.context_tokens)
        parts.append([meter, (f" {tokens} tokens, {share:.0%}", ink)])
    if status.model:
        parts.append([(_model_text(status), MUTED)])
    return parts


def _meter(share: float) -> str:
    """Return a fraction as a bar of one cell, ▁ to █."""
    return _LEVELS[max(0, min(len(_LEVELS) - 1, int(share * len(_LEVELS))))]


def _model_text(status: StatusLineState) -> str:
    name = status.model.removeprefix("claude-")
    effort = f" {status.effort}" if status.effort else ""
    return name + effort + (", no thinking" if status.is_unthinking else "")


def _dollars(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.01 else f"${usd:.4f}"


class StatusLine(RowsWidget):
    """Shows a `StatusLineState`."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start with an empty state."""
        super().__init__(id=id)
        self.status = StatusLineState()
        self.mode_pressed: Callable[[], object] = lambda: None
        """Called when the permission mode is clicked."""

    def show(self, status: StatusLineState) -> None:
        """Show another status."""
        if status != self.status:
            self.status = status
            self.rows_changed()

    def on_click(self, event: events.Click) -> None:
        """Report a click on the mode."""
        mode = self.status.mode
        is_last_row = event.y == self.size.height - 1
        if mode is None or not is_last_row or not event.x:
            return
        if event.x < text_width(_mode_label(mode, self.size.width)):
            self.mode_pressed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the lines of the status line command, then our row."""
        own = own_rows(self.status.own, width_cells)
        # A low screen has room for our row only.
        visible_rows = own if self.app.size.height >= _LOW_SCREEN_ROWS else ()
        return [*visible_rows, status_row(self.status, width_cells)]


def own_rows(own: Sequence[tuple[Run, ...]], width_cells: int) -> list[Row]:
    """Return the lines of a status line command, indented by one cell if all of them fit then."""
    has_room = all(runs_width(line) < width_cells for line in own)
    first: list[Run] = [(" ", MUTED)] if has_room else []
    return [Row(clip([*first, *line], width_cells), is_copied=False) for line in own]
