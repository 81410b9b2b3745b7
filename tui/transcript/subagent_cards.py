"""Shows sub-agents: their activity is summarized on the card of the call that started them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tui.text.safe_text import shown_line
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import AgentActivity, ToolCard

if TYPE_CHECKING:
    from agent.events import AgentEvent


class SubagentCards:
    """Applies the events of sub-agents to the cards of the calls that started them."""

    def __init__(self, blocks: BlockList) -> None:
        """`blocks` contains the cards."""
        self._blocks = blocks

    def apply(self, event: AgentEvent, agent_id: str) -> None:
        """Apply an agent's event to its card; without a card it is ignored."""
        # An agent's turn id is the id of its call.
        card = self._blocks.get(event.turn_id)
        if not isinstance(card, ToolCard):
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
            case "message_committed":
                return  # its calls and figures are in other events
            case _:
                if card.agent is not None:
                    return
        self._blocks.replace(replace(card, agent=agent))
