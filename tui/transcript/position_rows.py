"""Shows the scroll position: scrollbar and hint while the end is not visible; the pinned prompt."""

from __future__ import annotations

from msgspec.structs import replace

from themes.theme import Role
from tui.text.styled_rows import FAINT, MUTED, Ink, Row
from tui.text.wrap import clip, runs_width
from tui.transcript.blocks import UserMessage
from tui.transcript.viewport import RowPosition, Viewport


def with_position(
    rows: list[tuple[RowPosition | None, Row]], viewport: Viewport, width: int
) -> list[tuple[RowPosition | None, Row]]:
    """Add scrollbar and hint, only while the user has scrolled up."""
    start, length = viewport.thumb(len(rows))
    for y in range(start, min(start + length, len(rows))):
        place, line = rows[y]
        runs = line.runs
        if runs and runs[-1][0].endswith(" "):
            # Most full-width rows end with a space, which can be removed.
            runs = (*runs[:-1], (runs[-1][0][:-1], runs[-1][1]))
        runs = tuple(clip(runs, width - 1))
        filler = (" " * (width - 1 - runs_width(runs)), Ink(ground=line.fill))
        rows[y] = (place, replace(line, runs=(*runs, filler, ("▐", FAINT))))
    place, _ = rows[-1]
    rows[-1] = (place, _hint(viewport.unseen_blocks, width))
    return rows


def pinned_row(prompt: UserMessage, width: int) -> Row:
    text = " ".join(prompt.text.split())
    runs = clip([(" ❯ ", Ink(Role.PERSON, Role.SURFACE)), (text, Ink(ground=Role.SURFACE))], width)
    return Row(tuple(runs), fill=Role.SURFACE, is_copied=False)


def _hint(unseen_blocks: int, width: int) -> Row:
    count = unseen_blocks
    news = f"{count} new message" + ("" if count == 1 else "s") if count else "Jump to the end"
    label, keys = f" ↓ {news} ", "ctrl+end "
    left = max(0, (width - len(label) - len(keys)) // 2)
    ground = Role.SURFACE_RAISED
    runs = (
        (" " * left, MUTED),
        (label, Ink(Role.ACCENT if count else Role.TEXT, ground)),
        (keys, Ink(Role.MUTED, ground)),
    )
    return Row(runs, is_copied=False)
