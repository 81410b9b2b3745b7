"""The items that a run adds to its conversation: messages, calls, outputs and handoffs."""

from __future__ import annotations

import json
import weakref
from dataclasses import dataclass, field

from agent.library.base.raw_items import InputItem, RawItem, as_input, read
from agent.library.base.run_exceptions import AgentsException
from agent.library.base.run_usage import RunUsage

_NOT_SENT = {
    "created_by": ("tool_search_call", "tool_search_output", "function_call_output"),
    "status": ("shell_call_output",),
}
"""Fields of output items that the Responses API rejects as input, to the types that have them."""


@dataclass
class RunItemBase:
    """Fields that all items have."""

    agent: RawItem
    """The agent that produced it."""
    raw_item: RawItem
    """The item itself, in the format of the Responses API."""

    def to_input_item(self) -> InputItem:
        """Return the item as input for a model."""
        return _to_input(as_input(self.raw_item))

    def release_agent(self) -> None:
        """Keep only a weak reference to the agent."""
        _release(self, "agent")

    def __getattr__(self, name: str) -> RawItem:
        """Return a released agent while it exists elsewhere, else None.

        Raises:
            AttributeError: there is no such field.
        """
        if not name.endswith("agent"):
            raise AttributeError(name)
        reference = self.__dict__.get(f"_{name}_reference")
        return reference() if reference is not None else None


def _release(item: RunItemBase, name: str) -> None:
    agent = item.__dict__.pop(name, None)
    if agent is not None:
        item.__dict__[f"_{name}_reference"] = weakref.ref(agent)


@dataclass
class AdmittedInputItem(RunItemBase):
    """Input that was added during a run; exported as `InputItem`."""

    type: str = "input_item"


@dataclass
class MessageOutputItem(RunItemBase):
    """A message of the model."""

    type: str = "message_output_item"


@dataclass
class ToolSearchCallItem(RunItemBase):
    """A search for tools."""

    type: str = "tool_search_call_item"


@dataclass
class ToolSearchOutputItem(RunItemBase):
    """The tools that were found."""

    type: str = "tool_search_output_item"


@dataclass
class HandoffCallItem(RunItemBase):
    """A call that hands the conversation to another agent."""

    type: str = "handoff_call_item"


@dataclass
class HandoffOutputItem(RunItemBase):
    """The output of a handoff."""

    source_agent: RawItem
    target_agent: RawItem
    type: str = "handoff_output_item"

    def release_agent(self) -> None:
        """Keep only weak references to the three agents."""
        for name in ("agent", "source_agent", "target_agent"):
            _release(self, name)


class _OfCall(RunItemBase):
    @property
    def call_id(self) -> str | None:
        """The id of the call, or of the call that an output belongs to."""
        return _call_id(self.raw_item)


@dataclass
class ToolCallItem(_OfCall):
    """A call of a tool."""

    description: str | None = None
    title: str | None = field(default=None, kw_only=True)
    type: str = "tool_call_item"
    tool_origin: RawItem = None

    @property
    def tool_name(self) -> str | None:
        """The name of the tool; if there is none, the type of the call."""
        name = read(self.raw_item, "name")
        return name if isinstance(name, str) else read(self.raw_item, "type")


@dataclass
class ToolCallOutputItem(_OfCall):
    """The output of a call."""

    output: RawItem = None
    """The Python value that the function returned."""
    type: str = "tool_call_output_item"
    tool_origin: RawItem = None
    custom_data: dict[str, RawItem] | None = None


@dataclass
class ReasoningItem(RunItemBase):
    """Reasoning of the model."""

    type: str = "reasoning_item"


@dataclass
class MCPListToolsItem(RunItemBase):
    """The tools of an MCP server, listed by the endpoint."""

    type: str = "mcp_list_tools_item"


@dataclass
class MCPApprovalRequestItem(RunItemBase):
    """An MCP call for which the endpoint requests approval."""

    type: str = "mcp_approval_request_item"


@dataclass
class MCPApprovalResponseItem(RunItemBase):
    """The answer to such a request."""

    type: str = "mcp_approval_response_item"


@dataclass
class CompactionItem(RunItemBase):
    """A summary that the endpoint made of earlier items."""

    type: str = "compaction_item"


@dataclass(eq=False)
class ToolApprovalItem(_OfCall):
    """A call that waits for approval; pass it to `RunState.approve` or `reject`."""

    tool_name: str | None = None
    type: str = "tool_approval_item"
    tool_namespace: str | None = None
    tool_origin: RawItem = None
    reason: str = field(default="", kw_only=True)
    """Why approval is required, if a permission rule or hook requires it."""

    def __post_init__(self) -> None:
        """Set missing fields from the call: the tool's name and namespace."""
        if self.tool_name is None:
            self.tool_name = read(self.raw_item, "name")
        if self.tool_namespace is None:
            self.tool_namespace = read(self.raw_item, "namespace")

    @property
    def name(self) -> str | None:
        """The name of the tool."""
        return self.tool_name

    @property
    def arguments(self) -> str | None:
        """The arguments of the call, as text."""
        for name in ("arguments", "params", "input"):
            arguments = read(self.raw_item, name)
            if arguments is not None:
                return arguments if isinstance(arguments, str) else json.dumps(arguments)
        return None

    def to_input_item(self) -> InputItem:
        """Always raise, as a pending approval cannot be input.

        Raises:
            AgentsException: always.
        """
        raise AgentsException("ToolApprovalItem cannot be converted to an input item.")


RunItem = RunItemBase
"""Any of the items."""


@dataclass
class ModelResponse:
    """One response of a model."""

    output: list[RawItem]
    usage: RunUsage
    response_id: str | None
    request_id: str | None = None
    raw_usage: dict[str, RawItem] | None = None
    stop_reason: str | None = None
    """Stop reason in the terms of the Messages API; None if the model reports none."""

    def to_input_items(self) -> list[InputItem]:
        """Return the output items as input for a model."""
        return [_to_input(as_input(item)) for item in self.output]


def _to_input(item: InputItem) -> InputItem:
    """Return an item without the fields that endpoints write but do not accept."""
    kind = item.get("type")
    drop = {name for name, types in _NOT_SENT.items() if kind in types}
    return {name: value for name, value in item.items() if name not in drop}


def _call_id(item: RawItem) -> str | None:
    call_id = read(item, "call_id") or read(item, "id")
    return str(call_id) if call_id is not None else None
