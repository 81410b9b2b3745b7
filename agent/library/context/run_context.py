"""The context for the caller's functions: the caller's object, the usage, and approvals.

The wrapper is never sent to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

from typing_extensions import TypeVar

from agent.library.base.raw_items import InputItem, RawItem, read
from agent.library.base.run_exceptions import UserError
from agent.library.base.run_usage import RunUsage
from agent.library.items.run_items import ToolApprovalItem

TContext = TypeVar("TContext", default=RawItem)


@dataclass
class ApprovalRecord:
    """Decisions about the calls of one tool: for every call, or by call id."""

    approved: bool | list[str] = field(default_factory=list)
    rejected: bool | list[str] = field(default_factory=list)
    rejection_messages: dict[str, str] = field(default_factory=dict)
    sticky_rejection_message: str | None = None

    def of_call(self, call_id: str) -> bool | None:
        """Return the decision about this particular call; None if there is none."""
        for decision, answer in ((self.rejected, False), (self.approved, True)):
            if isinstance(decision, list) and call_id in decision:
                return answer
        return None

    def status(self, call_id: str) -> bool | None:
        """Return the decision that applies to a call; None if there is none."""
        decision = self.of_call(call_id)
        if decision is not None:
            return decision
        if self.rejected is True:
            return False
        return True if self.approved is True else None


@dataclass(eq=False)
class RunContextWrapper(Generic[TContext]):
    """The context of one run."""

    context: TContext
    """The object that was passed to `Runner.run`."""
    usage: RunUsage = field(default_factory=RunUsage)
    turn_input: list[InputItem] = field(default_factory=list)
    _approvals: dict[str, ApprovalRecord] = field(default_factory=dict)
    tool_input: RawItem = None
    """Structured input of an agent that runs as a tool."""
    nested_states: dict[str, RawItem] = field(default_factory=dict, repr=False)
    """States of agents that run as tools and wait for approvals, by call id."""

    def approve_tool(self, approval_item: ToolApprovalItem, always_approve: bool = False) -> None:
        """Allow a call to run; `always_approve` allows every later call of the tool, too."""
        record, call_id = self._record(approval_item)
        record.rejection_messages.pop(call_id, None)
        if always_approve:
            record.approved, record.rejected = True, []
            record.sticky_rejection_message = None
            return
        if isinstance(record.rejected, list) and call_id in record.rejected:
            record.rejected.remove(call_id)
        if isinstance(record.approved, list) and call_id not in record.approved:
            record.approved.append(call_id)
        elif record.rejected is True:
            record.rejected, record.approved = [], [call_id]

    def reject_tool(
        self,
        approval_item: ToolApprovalItem,
        always_reject: bool = False,
        rejection_message: str | None = None,
    ) -> None:
        """Reject a call; the model gets `rejection_message` instead of its output."""
        record, call_id = self._record(approval_item)
        record.rejection_messages.pop(call_id, None)
        if rejection_message is not None:
            record.rejection_messages[call_id] = rejection_message
        if always_reject:
            record.rejected, record.approved = True, []
            record.sticky_rejection_message = rejection_message
            return
        if isinstance(record.approved, list) and call_id in record.approved:
            record.approved.remove(call_id)
        if isinstance(record.rejected, list) and call_id not in record.rejected:
            record.rejected.append(call_id)

    def is_tool_approved(self, tool_name: str, call_id: str) -> bool | None:
        """Return the decision about a call; None if there is none yet."""
        record = self._approvals.get(tool_name)
        status = record.status(call_id) if record is not None else None
        if status is None:
            # Calls of an MCP server are stored by server and name. By the name alone, only
            # decisions about this particular call apply, not those about all calls.
            records = (
                each for key, each in self._approvals.items() if key.endswith(f"/{tool_name}")
            )
            answers = (each.of_call(call_id) for each in records)
            status = next((each for each in answers if each is not None), None)
        return status

    def get_approval_status(
        self,
        tool_name: str,
        call_id: str,
        *,
        tool_namespace: str | None = None,
        existing_pending: ToolApprovalItem | None = None,
    ) -> bool | None:
        """Return the decision about a call, looked up by the pending item if there is one."""
        key = _decision_key(tool_name, tool_namespace, existing_pending)
        return self.is_tool_approved(key, call_id)

    def get_rejection_message(
        self,
        tool_name: str,
        call_id: str,
        *,
        tool_namespace: str | None = None,
        existing_pending: ToolApprovalItem | None = None,
    ) -> str | None:
        """Return the text of a rejection; None if there is none."""
        key = _decision_key(tool_name, tool_namespace, existing_pending)
        record = self._approvals.get(key)
        if record is None or record.status(call_id) is not False:
            return None
        return record.rejection_messages.get(call_id, record.sticky_rejection_message)

    def fork(self) -> RunContextWrapper[TContext]:
        """Return a wrapper for a nested run, which shares object, usage and approvals."""
        return RunContextWrapper(context=self.context, usage=self.usage, _approvals=self._approvals)

    def approvals_to_json(self) -> dict[str, RawItem]:
        """Return all decisions as JSON values."""
        return {name: dict(vars(record)) for name, record in self._approvals.items()}

    def restore_approvals(self, data: Mapping[str, RawItem]) -> None:
        """Restore decisions that `approvals_to_json` returned."""
        self._approvals = {name: ApprovalRecord(**record) for name, record in data.items()}

    def _record(self, item: ToolApprovalItem) -> tuple[ApprovalRecord, str]:
        call_id = item.call_id
        if not call_id:
            raise UserError("A tool call without an id can be neither approved nor rejected.")
        return self._approvals.setdefault(approval_key(item), ApprovalRecord()), call_id


def _decision_key(name: str, namespace: str | None, pending: ToolApprovalItem | None) -> str:
    if pending is not None:
        return approval_key(pending)
    return f"{namespace}.{name}" if namespace else name


def approval_key(item: ToolApprovalItem) -> str:
    """Return the key under which decisions about a tool are stored."""
    name = item.tool_name or read(item.raw_item, "type") or "unknown_tool"
    server = read(item.raw_item, "server_label")
    if isinstance(server, str) and server:
        return f"{server}/{name}"
    return f"{item.tool_namespace}.{name}" if item.tool_namespace else str(name)


@dataclass(eq=False)
class AgentHookContext(RunContextWrapper[TContext]):
    """The context for hooks at an agent's start and end."""
