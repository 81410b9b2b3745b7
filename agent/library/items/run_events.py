"""The events that a streamed run yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from agent.library.base.raw_items import RawItem
from agent.library.items.run_items import RunItem


@dataclass
class RawResponsesStreamEvent:
    """An event of the model's own stream."""

    data: RawItem
    type: str = "raw_response_event"


@dataclass
class RunItemStreamEvent:
    """A new item; `name` is its kind, spelled as in the Agents SDK."""

    name: str
    item: RunItem
    type: str = "run_item_stream_event"


@dataclass
class AgentUpdatedStreamEvent:
    """Another agent has taken over."""

    new_agent: RawItem
    type: str = "agent_updated_stream_event"


StreamEvent: TypeAlias = RawResponsesStreamEvent | RunItemStreamEvent | AgentUpdatedStreamEvent

EVENT_NAMES = {
    "message_output_item": "message_output_created",
    "handoff_call_item": "handoff_requested",
    "handoff_output_item": "handoff_occured",
    "tool_call_item": "tool_called",
    "tool_call_output_item": "tool_output",
    "reasoning_item": "reasoning_item_created",
    "tool_search_call_item": "tool_search_called",
    "tool_search_output_item": "tool_search_output_created",
    "mcp_approval_request_item": "mcp_approval_requested",
    "mcp_approval_response_item": "mcp_approval_response",
    "mcp_list_tools_item": "mcp_list_tools",
}
"""Type of item to the name of its event; other items have no event."""


def item_event(item: RunItem) -> RunItemStreamEvent | None:
    """Return the event for a new item; None if its type has none."""
    name = EVENT_NAMES.get(getattr(item, "type", ""))
    return RunItemStreamEvent(name, item) if name is not None else None
