"""What a conversation used so far: tokens, money, and how full the window is."""

from __future__ import annotations

from msgspec import Struct, field

from agent.events import Usage


class Totals(Struct):
    """What the conversation used so far, sub-agents included."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    context_tokens: int = 0
    context_window: int = 200_000
    notice: str | None = None
    """What the user should hear about the spending, once."""

    def take_notice(self) -> str | None:
        """Return what there is to hear since the last call."""
        notice, self.notice = self.notice, None
        return notice
