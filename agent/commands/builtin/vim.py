"""`/vim`: switch Vim key bindings in the composer on or off (setting `editorMode`)."""

from __future__ import annotations

import asyncio

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.settings.change import set_value


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Toggle them, now and for later starts. Raises ConfigError."""
    editor_mode = "normal" if context.settings().values.editorMode == "vim" else "vim"
    try:
        await asyncio.to_thread(
            set_value, context.agent_home / "settings.json", "editorMode", editor_mode
        )
    except OSError as error:
        return ShowText(f"Not saved: {error.strerror}.", "warning")
    await context.reload_settings()
    if context.settings().values.editorMode != editor_mode:
        return ShowText("Another settings file sets editorMode: see /config.", "warning")
    return ShowText("Vim mode is on" if editor_mode == "vim" else "Vim mode is off")
