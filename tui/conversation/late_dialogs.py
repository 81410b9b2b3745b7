"""Dialogs that most sessions never show, imported when one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.mcp.live.user_port import McpUser
    from tui.dialogs.dialog import ShowDialog


def mcp_dialogs(show: ShowDialog) -> McpUser:
    """Return the dialogs about MCP servers, including those that servers request."""
    from tui.dialogs.mcp.mcp_dialogs import McpDialogs  # most starts have no servers

    return McpDialogs(show)


async def ask_to_keep_facts(show: ShowDialog) -> bool | None:
    """Return whether facts are stored for later sessions; None if the user decides later."""
    from tui.conversation.keep_facts import keep_facts_dialog  # asked once

    return await show(keep_facts_dialog())
