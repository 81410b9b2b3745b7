"""Sub-agents on the screen: their work is summed up on the card of the call that started them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tui.text.safe_text import shown_line
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import AgentActivity, ToolCard

if TYPE_CHECKING:
    from agent.events import AgentEvent

_AGENT_TOOLS: Final = frozenset({"Agent", "Task"})


class SubagentCards:
    """Which card is which agent's: a new agent takes the oldest card without one."""

    def __init__(self, blocks: BlockList) -> None:
        """Take where the cards are."""
        self._blocks = blocks
        self._cards: dict[str, str] = {}

    def clear(self) -> None:
        """Forget every agent."""
        self._cards.clear()

    def apply(self, event: AgentEvent, agent_id: str) -> None:
        """Fold an agent's event into its card; without a card it is not shown."""
        card = self._card_of(agent_id)
        if card is None:
            return
        agent = card.agent or AgentActivity(agent_id)
        match event.type:
            case "tool_dispatch":
                agent = replace(
                    agent, tool_count=agent.tool_count + 1, last_line=shown_line(event.identifier)
                )
            case "usage_update":
                agent = replace(
                    agent, output_tokens=agent.output_tokens + event.usage.output_tokens
                )
            case "notice":
                agent = replace(agent, last_line=shown_line(event.text))
            case "error":
                agent = replace(agent, last_line=shown_line(event.message))
            case _:
                if card.agent is not None:
                    return
        self._blocks.replace(replace(card, agent=agent))

    def _card_of(self, agent_id: str) -> ToolCard | None:
        bound = self._cards.get(agent_id)
        if bound is not None:
            block = self._blocks.get(bound)
            return block if isinstance(block, ToolCard) else None
        for block in self._blocks.blocks:
            if (
                isinstance(block, ToolCard)
                and block.name in _AGENT_TOOLS
                and block.state in ("running", "asking")
                and block.key not in self._cards.values()
            ):
                self._cards[agent_id] = block.key
                return block
        return None
