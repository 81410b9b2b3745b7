"""The progress of a run; `agent.library.state.run_state` adds its JSON form."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TypeVar

from agent.library.agents.agent_definition import Agent
from agent.library.agents.guards import InputGuardrailResult, OutputGuardrailResult
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.context.run_context import RunContextWrapper
from agent.library.items.run_items import ModelResponse, RunItem, ToolApprovalItem
from agent.library.tools.tool_guards import ToolInputGuardrailResult, ToolOutputGuardrailResult

StateT = TypeVar("StateT", bound="RunProgress")


class RunProgress:
    """One run, at the end of a turn or within one that waits for approvals."""

    def __init__(
        self,
        context: RunContextWrapper,
        original_input: str | list[InputItem],
        starting_agent: Agent,
        max_turns: int | None = 10,
    ) -> None:
        """Start before the first turn."""
        self.context = context
        self.original_input = original_input
        """The model's input before all items; filters of handoffs may replace it."""
        self.starting_agent = starting_agent
        self.current_agent = starting_agent
        self.max_turns = max_turns
        self.current_turn = 0
        self.generated_items: list[RunItem] = []
        """Items of this run in the model's input."""
        self.session_items: list[RunItem] = []
        """All items of this run, for results and sessions."""
        self.compaction: tuple[int, list[InputItem]] | None = None
        """Number of compacted items, of input and run, and their replacement for the model."""
        self.turn_start = 0
        """Index in `generated_items` at which the last turn begins."""
        self.saved_count = 0
        """Number of `session_items` that are stored in the session."""
        self.model_responses: list[ModelResponse] = []
        self.input_guardrail_results: list[InputGuardrailResult] = []
        self.output_guardrail_results: list[OutputGuardrailResult] = []
        self.tool_input_guardrail_results: list[ToolInputGuardrailResult] = []
        self.tool_output_guardrail_results: list[ToolOutputGuardrailResult] = []
        self.interruptions: list[ToolApprovalItem] = []
        self.is_interrupted = False
        """Whether the last response still has calls to run."""
        self.used_tools: set[str] = set()
        """Names of agents that have used a tool."""
        self.final_output: RawItem = None
        self.has_finished = False
        self.has_started_agent = False
        self.trace_id: str | None = None

    def __class_getitem__(cls, _parameters: object) -> type[RunProgress]:
        """Accept type parameters, which have no effect."""
        return cls

    def add_items(self, items: Sequence[RunItem]) -> None:
        """Add items to both the model's input and the results."""
        self.generated_items.extend(items)
        self.session_items.extend(items)

    def get_interruptions(self) -> list[ToolApprovalItem]:
        """Return the calls that wait for approval."""
        return list(self.interruptions)

    def approve(self, approval_item: ToolApprovalItem, always_approve: bool = False) -> None:
        """Allow a call to run when the run continues."""
        self.context.approve_tool(approval_item, always_approve)

    def reject(
        self,
        approval_item: ToolApprovalItem,
        always_reject: bool = False,
        *,
        rejection_message: str | None = None,
    ) -> None:
        """Reject a call; the model gets `rejection_message` instead of its output."""
        self.context.reject_tool(approval_item, always_reject, rejection_message)

    def copy(self: StateT) -> StateT:
        """Return an independent copy of this state."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | set):
                setattr(other, name, copy.copy(value))
        other.context = copy.copy(self.context)
        other.context.restore_approvals(copy.deepcopy(self.context.approvals_to_json()))
        return other
