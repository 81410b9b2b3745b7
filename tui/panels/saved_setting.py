"""Writes a setting that was changed in a panel."""

from __future__ import annotations

from tui.ports.command_screen import CommandScreen


async def save_setting(screen: CommandScreen, key: str, value: object) -> None:
    """Write a setting and read the files again, so that the watcher reports no change."""
    await screen.workspace.save_setting(key, value)
    if (command_service := screen.session.commands) is not None:
        await command_service.context.reload_settings()
