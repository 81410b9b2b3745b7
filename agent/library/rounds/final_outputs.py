"""Determines the final output, from the last message, from tools, or from error handlers."""

from __future__ import annotations

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError

from agent.library.agents.agent_definition import Agent, ToolsToFinalOutputResult
from agent.library.agents.agent_output import AgentOutputSchemaBase, output_schema_of
from agent.library.base.awaiting import resolve_value
from agent.library.base.raw_items import HANDLER_MESSAGE_ID, DictItem, RawItem, input_list
from agent.library.base.run_exceptions import (
    AgentsException,
    ModelBehaviorError,
    ModelRefusalError,
    UserError,
)
from agent.library.items.item_helpers import ItemHelpers
from agent.library.items.run_items import MessageOutputItem, RunItem
from agent.library.state.run_config import (
    RunErrorData,
    RunErrorHandler,
    RunErrorHandlerInput,
    RunErrorHandlerResult,
)
from agent.library.state.run_result import items_as_input
from agent.library.state.run_scope import RunScope
from agent.library.tools.function_tool import FunctionToolResult


class Unfinished(Exception):
    """The model wrote nothing that can be the final output."""


def last_text(items: list[RunItem]) -> str | None:
    """Return the text of the last message; None if there is none."""
    messages = [each for each in items if isinstance(each, MessageOutputItem)]
    return ItemHelpers.extract_text(messages[-1].raw_item) if messages else None


def message_output(agent: Agent, items: list[RunItem], text_before: str = "") -> RawItem:
    """Return the final output of a turn without calls; `text_before` precedes the last message.

    Raises:
        ModelRefusalError: the model refused.
        ModelBehaviorError: its text does not match the agent's output type.
        Unfinished: it wrote nothing, and the agent's output type is not text.
    """
    messages = [each for each in items if isinstance(each, MessageOutputItem)]
    last = messages[-1].raw_item if messages else None
    text = last_text(items)
    refusal = ItemHelpers.extract_refusal(last) if last is not None else None
    if refusal is not None and text is None:
        raise ModelRefusalError(refusal)
    text = text_before + (text or "") if text_before else text
    schema = output_schema_of(agent.output_type)
    if schema is None or schema.is_plain_text():
        return text or ""
    if text is None:
        raise Unfinished
    return schema.validate_json(text)


async def tools_output(
    scope: RunScope, agent: Agent, results: list[FunctionToolResult]
) -> ToolsToFinalOutputResult:
    """Return whether the tools' results are the final output, and that output.

    Raises:
        UserError: the agent's `tool_use_behavior` is invalid, or returns a wrong type.
    """
    behavior = agent.tool_use_behavior
    if not results or behavior == "run_llm_again":
        return ToolsToFinalOutputResult(False)
    if behavior == "stop_on_first_tool":
        return ToolsToFinalOutputResult(True, _to_output_type(agent, results[0].output))
    if isinstance(behavior, dict):
        names = behavior.get("stop_at_tool_names", [])
        first_match = next((each for each in results if each.tool.name in names), None)
        output = _to_output_type(agent, first_match.output) if first_match is not None else None
        return ToolsToFinalOutputResult(first_match is not None, output)
    if callable(behavior):
        answer = await resolve_value(behavior(scope.context, results))
        if isinstance(answer, ToolsToFinalOutputResult):
            return answer
    raise UserError(f"Invalid tool_use_behavior: {behavior}")


def _to_output_type(agent: Agent, output: RawItem) -> RawItem:
    return str(output) if output_schema_of(agent.output_type) is None else output


async def handle_error(
    scope: RunScope, kind: str, error: AgentsException
) -> RunErrorHandlerResult | None:
    """Return the result of the caller's handler for an error; None if the error is to be raised.

    Raises:
        UserError: the result does not match the agent's output type.
    """
    handler: RunErrorHandler | None = dict[str, RawItem](scope.error_handlers).get(kind)
    if handler is None:
        return None
    state = scope.state
    output = items_as_input(state.session_items)
    data = RunErrorData(
        input=state.original_input,
        new_items=list(state.session_items),
        history=[*input_list(state.original_input), *output],
        output=output,
        raw_responses=list(state.model_responses),
        last_agent=state.current_agent,
    )
    answer = await resolve_value(handler(RunErrorHandlerInput(error, scope.context, data)))
    if answer is None:
        return None
    result = _handler_result(answer)
    result.final_output = _validate(state.current_agent, result.final_output)
    return result


def _handler_result(answer: RawItem) -> RunErrorHandlerResult:
    if isinstance(answer, RunErrorHandlerResult):
        return RunErrorHandlerResult(answer.final_output, answer.include_in_history)
    if isinstance(answer, dict) and "final_output" in answer:
        if set(answer) - {"final_output", "include_in_history"}:
            raise UserError("Invalid run error handler result.")
        return RunErrorHandlerResult(**answer)
    return RunErrorHandlerResult(answer)


def _validate(agent: Agent, output: RawItem) -> RawItem:
    schema = output_schema_of(agent.output_type)
    if schema is None or schema.is_plain_text():
        return output
    try:
        return schema.validate_json(_text_of(schema, output))
    except (ModelBehaviorError, ValueError, TypeError) as error:
        raise UserError("Invalid run error handler final_output for structured output.") from error


def handler_message(agent: Agent, output: RawItem) -> MessageOutputItem:
    """Return the message that represents a handler's output in the history."""
    schema = output_schema_of(agent.output_type)
    plain = schema is None or schema.is_plain_text()
    text = str(output) if plain or schema is None else _text_of(schema, output)
    content = DictItem(type="output_text", text=text, annotations=[], logprobs=[])
    message = DictItem(
        id=HANDLER_MESSAGE_ID,
        type="message",
        role="assistant",
        status="completed",
        content=[content],
    )
    return MessageOutputItem(agent, message)


def _text_of(schema: AgentOutputSchemaBase, output: RawItem) -> str:
    """Return a value as JSON text for the schema to validate."""
    is_wrapped = getattr(schema, "is_wrapped", False)
    if is_wrapped and not (isinstance(output, dict) and set(output) == {"response"}):
        output = {"response": output}
    if isinstance(output, BaseModel):
        return output.model_dump_json()
    try:
        return TypeAdapter(type(output)).dump_json(output).decode()
    except (PydanticUserError, ValidationError) as error:
        raise UserError(f"The output has no JSON form: {error}") from error
