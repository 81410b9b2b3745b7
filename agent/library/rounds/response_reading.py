"""Reads a model's response: items, tool calls, handoffs."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from agent.library.agents.agent_definition import Agent
from agent.library.agents.handoffs import Handoff
from agent.library.base.raw_items import RawItem, item_type, read
from agent.library.base.run_exceptions import ModelBehaviorError
from agent.library.items.run_items import (
    CompactionItem,
    HandoffCallItem,
    MCPApprovalRequestItem,
    MCPListToolsItem,
    MessageOutputItem,
    ModelResponse,
    ReasoningItem,
    RunItem,
    ToolCallItem,
    ToolSearchCallItem,
    ToolSearchOutputItem,
)
from agent.library.rounds.model_calls import TurnTools
from agent.library.tools.function_tool import FunctionTool

_LOG: Final = logging.getLogger(__name__)

_PLAIN: Final = {
    "message": MessageOutputItem,
    "reasoning": ReasoningItem,
    "compaction": CompactionItem,
    "mcp_list_tools": MCPListToolsItem,
    "mcp_approval_request": MCPApprovalRequestItem,
    "tool_search_call": ToolSearchCallItem,
    "tool_search_output": ToolSearchOutputItem,
}


@dataclass(frozen=True)
class ToolRun:
    """A call of a function tool."""

    call: RawItem
    tool: FunctionTool

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return str(read(self.call, "call_id"))


@dataclass(frozen=True)
class HandoffRun:
    """A call of a handoff."""

    call: RawItem
    handoff: Handoff


@dataclass
class ReadResponse:
    """The parts of one response."""

    items: list[RunItem] = field(default_factory=list)
    tool_runs: list[ToolRun] = field(default_factory=list)
    handoff_runs: list[HandoffRun] = field(default_factory=list)
    unknown_calls: list[RawItem] = field(default_factory=list)
    """Calls of unknown tools."""
    used_tools: bool = False
    stop_reason: str | None = None

    @property
    def has_calls(self) -> bool:
        """Whether there are calls to run, other than those that the provider runs itself."""
        return bool(self.tool_runs or self.handoff_runs or self.unknown_calls)

    @property
    def has_content(self) -> bool:
        """Whether the response adds items to the history."""
        return bool(self.items)


def read_response(
    agent: Agent, response: ModelResponse, tools: TurnTools, *, may_be_unknown: bool
) -> ReadResponse:
    """Return the items and calls of a response.

    Raises:
        ModelBehaviorError: it calls an unknown tool, and `may_be_unknown` is not set.
    """
    result = ReadResponse(stop_reason=response.stop_reason)
    for output in response.output:
        kind = item_type(output)
        if kind == "function_call":
            _call(result, agent, output, tools, may_be_unknown=may_be_unknown)
        elif kind in _PLAIN:
            result.items.append(_PLAIN[kind](agent, output))
        elif kind.endswith("_call"):
            result.items.append(ToolCallItem(agent, output))
            result.used_tools = True
        else:
            _LOG.warning("an output item of unknown type %r is left out", kind)
    return result


def _call(
    result: ReadResponse, agent: Agent, call: RawItem, tools: TurnTools, *, may_be_unknown: bool
) -> None:
    name = read(call, "name")
    handoff = next((each for each in tools.handoffs if each.tool_name == name), None)
    if handoff is not None:
        result.items.append(HandoffCallItem(agent, call))
        result.handoff_runs.append(HandoffRun(call, handoff))
        return
    tool = find_tool(name, tools)
    result.used_tools = True
    if tool is None:
        if not may_be_unknown:
            raise ModelBehaviorError(f"Tool {name} not found in agent {agent.name}")
        result.items.append(ToolCallItem(agent, call))
        result.unknown_calls.append(call)
        return
    result.items.append(ToolCallItem(agent, call, tool.description or None))
    result.tool_runs.append(ToolRun(call, tool))


def find_tool(name: str, tools: TurnTools) -> FunctionTool | None:
    """Return the function tool of a name; the last one if there are several."""
    matches = [each for each in tools.tools if isinstance(each, FunctionTool) and each.name == name]
    return matches[-1] if matches else None
