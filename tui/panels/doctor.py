"""`/doctor`: the checks of `agent-tui doctor`, inside the program."""

from __future__ import annotations

import asyncio

from tui.command_screen import CommandScreen
from tui.panels.text_panel import TextPanel, text_rows


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Run the checks and show what they found."""
    # They import the command line, which the screen does without otherwise.
    from tui.subcommands.doctor import report

    text = await asyncio.to_thread(report)
    await screen.show_dialog(TextPanel("Doctor", text_rows(text)))
