"""The question of the trust dialog, made from what the settings found."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent.settings.trust import TrustState
from tui.dialogs.trust import TrustLine, TrustRequest

_UNUSED: Final = {"MCP server": " (not connected by this version)"}
"""What is said of kinds that do nothing yet, though trust covers them."""


def trust_request(state: TrustState) -> TrustRequest:
    """Return what the user is asked about a folder."""
    return TrustRequest(
        folder=str(state.root),
        items=[
            TrustLine(
                item.kind,
                item.label + _UNUSED.get(item.kind, ""),
                _place(item.file, item.line, state.root),
                is_new=state.trusted,
            )
            for item in state.new
        ],
        was_trusted=state.trusted,
    )


def _place(file: Path | None, line: int | None, root: Path) -> str:
    """Return where an item stands, as seen from the folder that is named above the list."""
    if file is None:
        return ""
    near = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{near}:{line}" if line else str(near)
