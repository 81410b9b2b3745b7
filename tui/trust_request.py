"""The question of the trust dialog, made from what the settings found."""

from __future__ import annotations

from agent.settings.trust import TrustState
from tui.dialogs.trust import TrustItem, TrustRequest


def trust_request(state: TrustState) -> TrustRequest:
    """Return what the person is asked about a folder."""
    return TrustRequest(
        folder=str(state.root),
        items=[
            TrustItem(
                item.kind,
                item.label,
                f"{item.file}:{item.line}" if item.file and item.line else str(item.file or ""),
                is_new=state.trusted,
            )
            for item in state.new
        ],
        was_trusted=state.trusted,
    )
