"""`/focus`: switches between one line per call and more detail."""

from __future__ import annotations

from tui.ports.command_screen import CommandScreen


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Switch the detail of calls for this session."""
    is_focused = screen.appearance.toggle_focus()
    screen.hint("compact tool calls" if is_focused else "tool calls with results")
