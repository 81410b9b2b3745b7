"""`/doctor`: the checks of `agent-tui doctor`, inside the program."""

from __future__ import annotations

import asyncio
from importlib import import_module

from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Run the checks and show what they found."""
    # By name: this package must not import the command line, which is a layer above.
    doctor = import_module("tui.command_line.subcommands.doctor_command")
    command_service = screen.session.commands
    # The settings of this run, which depend on its options (`--trust`, `--settings`).
    settings = command_service.context.settings() if command_service is not None else None
    text = await asyncio.to_thread(doctor.report, settings)
    await screen.show_dialog(TextPanel("Doctor", text_rows(text)))
