"""`/trust`: lists items of this project without effect, and asks whether to trust them."""

from __future__ import annotations

import asyncio

from agent.settings.trust import TrustStore
from tui.dialogs.trust_dialog import TrustDialog, trust_request
from tui.ports.command_screen import CommandScreen


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Ask whether to trust the items; accepted ones take effect at once."""
    command_service = screen.session.commands
    if command_service is None:
        return
    await command_service.context.reload_settings()
    state = command_service.context.settings().trust
    if not state.new:
        screen.notice(f"Nothing in {screen.workspace.display_path(state.root)} waits for trust.")
        return
    if not await screen.show_dialog(TrustDialog(trust_request(state))):
        return
    store = TrustStore(command_service.context.agent_home / "trust.json")
    try:
        await asyncio.to_thread(store.accept, state)
    except OSError as error:
        screen.notice(f"Your answer cannot be saved: {error.strerror}.", "warning")
        return
    await command_service.context.reload_settings()
    await command_service.custom.refresh()
    screen.notice(f"{len(state.new)} items of this project take effect now.")
