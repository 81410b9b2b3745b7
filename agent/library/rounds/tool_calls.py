"""Runs the calls of one turn: approvals, guardrails, the gate, hooks, and the tool itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.library.agents.agent_definition import Agent
from agent.library.base.awaiting import resolve_value
from agent.library.base.raw_items import RawItem, read
from agent.library.base.run_exceptions import (
    ModelBehaviorError,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
    UserError,
)
from agent.library.context.call_context import CallContext
from agent.library.items.item_helpers import ItemHelpers
from agent.library.items.run_items import RunItem, ToolApprovalItem, ToolCallOutputItem
from agent.library.program.standard_gate import CallStopped
from agent.library.rounds.response_reading import ToolRun
from agent.library.state.run_scope import RunScope
from agent.library.tools.function_tool import (
    FunctionToolResult,
    ToolErrorFormatterArgs,
    invoke_function_tool,
    parse_arguments,
)
from agent.library.tools.tool_guards import (
    ToolInputGuardrailData,
    ToolInputGuardrailResult,
    ToolOutputGuardrailData,
    ToolOutputGuardrailResult,
)
from agent.library.tracing.run_spans import TraceSpan, function_span
from agent.messages import ToolUse
from agent.tools.base import ToolError, ToolOutcome
from agent.tools.call import CallOutcome
from permissions.base.text.sanitize import sanitize

NOT_APPROVED = "Tool execution was not approved."


@dataclass
class ToolRunsOutcome:
    """The results of a turn's calls."""

    results: list[FunctionToolResult] = field(default_factory=list)
    interruptions: list[ToolApprovalItem] = field(default_factory=list)

    @property
    def items(self) -> list[RunItem]:
        """The output items, in the order of the calls."""
        return [each.run_item for each in self.results if each.run_item is not None]


async def run_tools(scope: RunScope, agent: Agent, runs: list[ToolRun]) -> ToolRunsOutcome:
    """Run the calls concurrently; one that raises cancels the others.

    Guardrail results are added to the run's only if no call raises.
    """
    calls = [_CallRun(scope, agent, run) for run in runs]
    outcome = await _run_all(scope, calls)
    for call in calls:
        scope.state.tool_input_guardrail_results.extend(call.input_results)
        scope.state.tool_output_guardrail_results.extend(call.output_results)
    return outcome


async def _run_all(scope: RunScope, calls: list[_CallRun]) -> ToolRunsOutcome:
    config = scope.config.tool_execution
    limit = config.max_function_tool_concurrency if config is not None else None
    if scope.steps.is_recorded and any(call.has_agent for call in calls):
        limit = 1  # The steps of concurrent agents would have no fixed order.
    places = asyncio.Semaphore(limit) if limit is not None else contextlib.nullcontext()

    async def run_call(call: _CallRun) -> FunctionToolResult | ToolApprovalItem:
        async with places:
            return await call.run()

    tasks = [asyncio.ensure_future(run_call(call)) for call in calls]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION) if tasks else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    failures = [task for task in tasks if task.cancelled() or task.exception() is not None]
    for task in sorted(failures, key=lambda each: each.cancelled()):
        task.result()
    outcome = ToolRunsOutcome()
    for task in tasks:
        result = task.result()
        if isinstance(result, ToolApprovalItem):
            outcome.interruptions.append(result)
        elif result.interruptions:
            outcome.interruptions.extend(result.interruptions)
        else:
            outcome.results.append(result)
    return outcome


class _CallRun:
    """One call."""

    def __init__(self, scope: RunScope, agent: Agent, run: ToolRun) -> None:
        self._scope = scope
        self._agent = agent
        self._tool = run.tool
        self._call = run.call
        # An agent that runs as a tool reserves its own steps.
        is_step = run.tool.agent_instance is None
        self._step = scope.steps.reserve(f"tool {run.call_id}") if is_step else None
        self.input_results: list[ToolInputGuardrailResult] = []
        self.output_results: list[ToolOutputGuardrailResult] = []
        self._context = CallContext.from_agent_context(
            scope.context,
            run.call_id,
            run.call,
            agent,
            run_config=scope.config,
        )
        self._context.conversation_history = list(scope.context.turn_input)

    @property
    def has_agent(self) -> bool:
        """Whether the tool runs an agent."""
        return self._tool.agent_instance is not None

    async def run(self) -> FunctionToolResult | ToolApprovalItem:
        """Run the call; return the result, or the approval that it needs."""
        config = self._scope.config
        with function_span(self._tool.name, disabled=config.tracing_disabled) as span:
            if config.trace_include_sensitive_data:
                span.span_data.__dict__["input"] = self._context.tool_arguments
            try:
                return await self._run_permitted(span)
            except Exception as error:
                span.set_error(
                    {
                        "message": "Error running tool",
                        "data": {"tool_name": self._tool.name, "error": str(error)},
                    }
                )
                raise

    async def _run_permitted(self, span: TraceSpan) -> FunctionToolResult | ToolApprovalItem:
        approval = await self._approval()
        if isinstance(approval, ToolApprovalItem):
            return approval
        if isinstance(approval, str):
            return self._result(approval)
        rejection = await self._input_guardrails()
        if rejection is not None:
            return self._result(rejection)
        return await self._run_gated(span)

    async def _approval(self) -> ToolApprovalItem | str | None:
        """Return the approval that is needed, the text of a rejection, or None to continue."""
        needs = self._tool.needs_approval
        if callable(needs):
            try:
                arguments = parse_arguments(self._tool.name, self._context.tool_arguments)
                needs = await resolve_value(
                    needs(self._context, arguments, self._context.tool_call_id)
                )
            except ModelBehaviorError:
                needs = True
        return await self._check_approval() if needs else None

    async def _check_approval(self, reason: str = "") -> ToolApprovalItem | str | None:
        item = ToolApprovalItem(self._agent, self._call, self._tool.name, reason=reason)
        call_id = self._context.tool_call_id
        status = self._scope.context.get_approval_status(
            self._tool.name, call_id, existing_pending=item
        )
        if status is None:
            return item
        if status:
            return None
        rejection = self._scope.context.get_rejection_message(
            self._tool.name, call_id, existing_pending=item
        )
        return (
            rejection if rejection is not None else await rejection_text(self._scope, self._context)
        )

    async def _run_gated(self, span: TraceSpan) -> FunctionToolResult | ToolApprovalItem:
        """Run the call through the gate; a permission ask becomes an approval."""
        call_arguments = self._call_arguments()
        ran: list[RawItem] = []
        errors: list[Exception] = []

        async def work(arguments: Mapping[str, RawItem]) -> ToolOutcome:
            if arguments != call_arguments:
                self._context.tool_arguments = json.dumps(dict(arguments))
            try:
                output = await self._invoke(span)
            except Exception as error:
                errors.append(error)
                raise ToolError(str(error)) from error
            ran.append(output)
            if self._context.failure is not None:
                raise ToolError(self._context.failure)
            return ToolOutcome(str(output))

        use = ToolUse(
            self._context.tool_call_id, self._tool.rule_name or self._tool.name, call_arguments
        )
        gate = self._scope.gate
        assert gate is not None, "a run has a gate"
        try:
            outcome = await gate.run(use, work, self._check_approval)
        except CallStopped as stop:
            answer: FunctionToolResult | ToolApprovalItem | str = stop.answer
            return self._result(answer) if isinstance(answer, str) else answer
        if errors:
            raise errors[0]
        return self._result(self._output_after_hooks(outcome, *ran))

    async def _input_guardrails(self) -> str | None:
        data = ToolInputGuardrailData(self._context, self._agent)
        for guardrail in self._tool.tool_input_guardrails or []:
            output = await guardrail.run(data)
            self.input_results.append(ToolInputGuardrailResult(guardrail, output))
            match output.behavior["type"]:
                case "raise_exception":
                    raise ToolInputGuardrailTripwireTriggered(guardrail, output)
                case "reject_content":
                    return output.behavior["message"]
        return None

    async def _output_guardrails(self, result: RawItem) -> RawItem:
        for guardrail in self._tool.tool_output_guardrails or []:
            data = ToolOutputGuardrailData(self._context, self._agent, result)
            output = await guardrail.run(data)
            self.output_results.append(ToolOutputGuardrailResult(guardrail, output))
            match output.behavior["type"]:
                case "raise_exception":
                    raise ToolOutputGuardrailTripwireTriggered(guardrail, output)
                case "reject_content":
                    return output.behavior["message"]
        return result

    async def _invoke(self, span: TraceSpan) -> RawItem:
        hooks, own = self._scope.hooks, self._agent.hooks
        starts = [hooks.on_tool_start(self._context, self._agent, self._tool)]
        if own is not None:
            starts.append(own.on_tool_start(self._context, self._agent, self._tool))
        await asyncio.gather(*starts)
        output = await self._output()
        inner_state = self._scope.context.nested_states.get(self._context.tool_call_id)
        if inner_state is not None:
            interruptions = inner_state["interruptions"]
            raise CallStopped(FunctionToolResult(self._tool, None, None, interruptions))
        output = await self._output_guardrails(output)
        ends = [hooks.on_tool_end(self._context, self._agent, self._tool, output)]
        if own is not None:
            ends.append(own.on_tool_end(self._context, self._agent, self._tool, output))
        await asyncio.gather(*ends)
        if self._scope.config.trace_include_sensitive_data:
            span.span_data.__dict__["output"] = str(output)
        return output

    async def _output(self) -> RawItem:
        async def work() -> RawItem:
            return await invoke_function_tool(
                function_tool=self._tool,
                context=self._context,
                arguments=self._context.tool_arguments,
            )

        return await (work() if self._step is None else self._step.run(work))

    def _output_after_hooks(self, outcome: CallOutcome, output: RawItem = "") -> RawItem:
        """Return the output, or a text if hooks changed it or the call did not run."""
        text, failure = str(outcome.response), self._context.failure
        own_text = sanitize(str(output) if failure is None else failure)
        if failure is not None and text.startswith(own_text):
            # Hooks get the error, the model gets the text that the caller's function made of it.
            text, own_text = f"{output}{text.removeprefix(own_text)}", str(output)
        notes = outcome.additional_context
        return "\n\n".join([text, *notes]) if notes or text != own_text else output

    def _call_arguments(self) -> dict[str, RawItem]:
        """Return the arguments for rules and hooks; empty if they are not a JSON object."""
        try:
            return parse_arguments(self._tool.name, self._context.tool_arguments)
        except ModelBehaviorError:
            return {}

    def _result(self, output: RawItem) -> FunctionToolResult:
        raw = ItemHelpers.tool_call_output_item(self._call, output)
        item = ToolCallOutputItem(self._agent, raw, output)
        extract = self._tool.custom_data_extractor
        if extract is not None:
            item.custom_data = extract(item)
        return FunctionToolResult(self._tool, output, item)


async def rejection_text(scope: RunScope, context: CallContext) -> str:
    """Return the model's text for a rejected call."""
    return await format_error(scope, "approval_rejected", context, NOT_APPROVED)


async def format_error(scope: RunScope, kind: RawItem, context: CallContext, default: str) -> str:
    """Return the text of the run's `tool_error_formatter`, or `default` if it gives none."""
    formatter = scope.config.tool_error_formatter
    if formatter is None:
        return default
    text = await resolve_value(
        formatter(
            ToolErrorFormatterArgs(
                kind=kind,
                tool_type="function",
                tool_name=context.qualified_tool_name,
                call_id=context.tool_call_id,
                default_message=default,
                run_context=context,
            )
        )
    )
    return text if isinstance(text, str) else default


async def unknown_call_output(scope: RunScope, agent: Agent, call: RawItem) -> RunItem:
    """Return the output for a call of an unknown tool. Raises UserError if the call has no id."""
    call_id = read(call, "call_id")
    if not call_id:
        raise UserError("A call of an unknown tool has no id.")
    context = CallContext.from_agent_context(scope.context, call_id, call, agent)
    default = f"Tool '{context.tool_name}' not found."
    text = await format_error(scope, "tool_not_found", context, default)
    return ToolCallOutputItem(agent, ItemHelpers.tool_call_output_item(call, text), text)
