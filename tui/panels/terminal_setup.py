"""`/terminal-setup`: what this terminal supports, and how to configure the rest."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen
from tui.terminal.advice import advise


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the advice, with settings to copy; no files are written."""
    # The program's environment: that of commands lacks variables that identify the terminal.
    text = terminal_text(os.environ)
    await screen.show_dialog(TextPanel("Terminal", text_rows(text)))


def terminal_text(env: Mapping[str, str]) -> str:
    """Return the advice as text for users."""
    marks = {"ok": "✓", "note": "·", "problem": "✗"}
    lines: list[str] = []
    for advice in advise(env):
        lines.append(f"{marks[advice.state]} {advice.name}: {advice.text}")
        lines += [f"    {line}" for line in advice.fix.splitlines()]
    return "\n".join(lines)
