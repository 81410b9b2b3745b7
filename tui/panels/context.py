"""`/context`: the use of the model's context window, as a bar and as figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.memory.context_breakdown import ContextBreakdown
from themes.theme import Role
from tui.panels.text_panel import TextPanel
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import BLANK, FAINT, MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip

_NAME_CELLS: Final = 30
_FIGURE_CELLS: Final = 19
_ROLES: Final = (Role.ACCENT, Role.SUCCESS, Role.ERROR, Role.SYNTAX_KEYWORD)
"""Roles with different colors in every theme, also in those with sixteen colors."""
_FILLS: Final = "█▒"


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the breakdown until it is closed."""
    command_service = screen.session.commands
    if command_service is None:
        return
    picture = command_service.context.context_breakdown()
    await screen.show_dialog(TextPanel("Context", lambda width: context_rows(picture, width)))


def context_rows(picture: ContextBreakdown, width: int) -> Sequence[Row]:
    """Return a bar over the whole window, then one row per part."""
    window = max(1, picture.window)
    cells = max(10, min(width - 8, 100))
    runs: list[Run] = [("   ", TEXT)]
    used_cells = 0
    for place, part in enumerate(picture.slices):
        # Each part that is not empty has at least one cell.
        size = max(1, round(part.tokens / window * cells)) if part.tokens else 0
        size = min(cells - used_cells, size)
        fill, ink = _mark(place)
        runs.append((fill * size, ink))
        used_cells += size
    runs.append(("░" * (cells - used_cells), FAINT))
    share = 100 * picture.used_tokens / window
    how = "counted by the endpoint" if picture.is_measured else "estimated"
    total = f"   {picture.used_tokens:,} of {picture.window:,} tokens ({share:.0f}%), {how}"
    rows = [row(*runs), row((total, MUTED)), BLANK]
    # In a narrow window names are cut off before figures are.
    name_cells = max(4, min(_NAME_CELLS, width - _FIGURE_CELLS - 7))
    for place, part in enumerate(picture.slices):
        fill, ink = _mark(place)
        rows.append(
            row(
                (f"   {fill} ", ink),
                f"{_clip_name(part.name, name_cells):<{name_cells}} ",
                (f"{part.tokens:>10,} {100 * part.tokens / window:6.1f}%", MUTED),
            )
        )
    free = max(0, picture.window - picture.used_tokens)
    rows.append(row(("   ░ ", FAINT), f"{'Free':<{name_cells}} ", (f"{free:>10,}", MUTED)))
    return rows


def _mark(place: int) -> Run:
    """Return the fill and the ink of a part; the combinations of the first eight parts differ."""
    round_index = place // len(_ROLES)
    return _FILLS[(place + round_index) % 2], Ink(_ROLES[place % len(_ROLES)])


def _clip_name(name: str, cells: int) -> str:
    return "".join(text for text, _ in clip([(name, TEXT)], cells))
