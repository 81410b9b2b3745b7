"""Agents that run as tools: one call of the tool is one run, with its own approvals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.library.agents.agent_definition import Agent, AgentToolStreamEvent
from agent.library.base.awaiting import resolve_value
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.context.call_context import CallContext
from agent.library.items.item_helpers import ItemHelpers
from agent.library.items.run_items import MessageOutputItem, ToolCallOutputItem
from agent.library.running.run_arguments import RunInput
from agent.library.state.run_config import DEFAULT_MAX_TURNS
from agent.library.state.run_result import RunResult, RunResultBase, RunResultStreaming
from agent.library.state.run_state import RunState


class AgentToolRuns:
    """Runs agents for calls of tools."""

    def __init__(
        self,
        run: Callable[..., Awaitable[RunResult]],
        run_streamed: Callable[..., RunResultStreaming],
    ) -> None:
        """`run` and `run_streamed` are those of `Runner`."""
        self._run = run
        self._run_streamed = run_streamed

    async def __call__(
        self,
        agent: RawItem,
        input: str | list[InputItem],
        context: CallContext,
        options: dict[str, RawItem],
    ) -> RawItem:
        """Run an agent for one tool call, or resume its state that waited for approvals."""
        old_run = context.nested_states.pop(context.tool_call_id, None)
        run_input: RunInput = input
        if old_run is not None:
            state = old_run["state"]
            if not isinstance(state, RunState):
                state = await RunState.from_json(agent, state)
            state.context.restore_approvals(context.approvals_to_json())
            run_input = state
        run_options: dict[str, RawItem] = {
            "context": _nested_context(context),
            "run_config": options["run_config"] or context.run_config,
            "hooks": options["hooks"],
            "session": options["session"],
            "max_turns": options["max_turns"] or DEFAULT_MAX_TURNS,
        }
        if options["on_stream"] is None:
            result: RunResultBase = await self._run(agent, run_input, **run_options)
        else:
            result = await self._stream(
                agent, run_input, context, options["on_stream"], run_options
            )
        interruptions = getattr(result, "interruptions", [])
        if interruptions:
            context.nested_states[context.tool_call_id] = {
                "state": result.to_state(),
                "interruptions": interruptions,
            }
            return None
        extract = options["custom_output_extractor"]
        if extract is not None:
            return await resolve_value(extract(result))
        return _tool_output(result)

    async def _stream(
        self,
        agent: Agent,
        run_input: RunInput,
        context: CallContext,
        on_stream: RawItem,
        options: dict[str, RawItem],
    ) -> RunResultStreaming:
        result = self._run_streamed(agent, run_input, **options)
        async for event in result.stream_events():
            payload = AgentToolStreamEvent(
                event=event, agent=result.current_agent, tool_call=context.tool_call
            )
            await resolve_value(on_stream(payload))
        return result


def _nested_context(context: CallContext) -> CallContext:
    """Return the context of the nested run, with its call and shared approvals."""
    return CallContext.from_agent_context(
        context.fork(),
        context.tool_call_id,
        context.tool_call,
        context.agent,
        tool_name=context.tool_name,
        tool_arguments=context.tool_arguments,
        run_config=context.run_config,
    )


def _tool_output(result: RunResultBase) -> RawItem:
    """Return the final output; if it is empty, the last text or tool output."""
    output = result.final_output
    if output not in (None, "") or result.output_guardrail_results:
        return output
    for item in reversed(result.new_items):
        if isinstance(item, MessageOutputItem) and (text := ItemHelpers.text_message_output(item)):
            return text
        if isinstance(item, ToolCallOutputItem) and isinstance(item.output, str) and item.output:
            return item.output
    return output
