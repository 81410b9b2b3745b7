"""The level of detail for each tool's calls: changed with the arrow keys, with a live preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, get_args

from tui.input.actions import Context
from tui.panels.list_panel import Item, ListPanel
from tui.panels.saved_setting import save_setting
from tui.ports.command_screen import CommandScreen
from tui.transcript.tool_card import ToolLevel

LEVELS: Final[tuple[ToolLevel, ...]] = get_args(ToolLevel)
SETTING: Final = "toolDetail"
_MEANINGS: Final[Mapping[ToolLevel, str]] = {
    "line": "header only",
    "short": "start of the result",
    "full": "whole result",
}


async def open_tool_detail(
    screen: CommandScreen,
    tools: Sequence[str],
    levels: Mapping[str, ToolLevel],
    use: Callable[[Mapping[str, ToolLevel]], None],
) -> None:
    """Let the user choose a level for each tool; Esc restores the previous levels."""
    chosen = dict(levels)

    def items() -> list[Item]:
        return [
            Item(tool, f"◂ {level} ▸  {_MEANINGS[level]}")
            for tool in tools
            for level in (chosen.get(tool, "short"),)
        ]

    def adjust(step: int) -> None:
        if panel.selected_item is None:
            return
        tool = tools[panel.selected_item]
        level_index = LEVELS.index(chosen.get(tool, "short")) + step
        chosen[tool] = LEVELS[max(0, min(level_index, len(LEVELS) - 1))]
        panel.replace(items())
        use(chosen)

    panel = ListPanel(
        "Detail of calls",
        items(),
        contexts=(Context.MODEL_PICKER,),
        on_adjust=adjust,
        hint="←→ change · enter save · esc cancel",
        empty="no tools used yet",
    )
    if await screen.show_dialog(panel) is None:
        use(levels)
        return
    levels = {tool: level for tool, level in chosen.items() if level != "short"}
    await save_setting(screen, SETTING, levels or None)
