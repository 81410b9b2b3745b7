"""One call of a model: filters its input and returns its response."""

from __future__ import annotations

import asyncio
import dataclasses

from agent.library.agents.agent_definition import Agent, enabled_handoffs
from agent.library.agents.agent_output import output_schema_of
from agent.library.agents.handoffs import Handoff
from agent.library.base.awaiting import resolve_value
from agent.library.base.model_options import ModelOptions
from agent.library.base.raw_items import (
    HANDLER_MESSAGE_ID,
    InputItem,
    RawItem,
    item_type,
    read,
)
from agent.library.base.run_exceptions import (
    ModelBehaviorError,
    ModelTimeoutError,
    UserError,
)
from agent.library.base.run_usage import usage_of
from agent.library.items.response_json import read_model_response, response_json
from agent.library.items.run_events import RawResponsesStreamEvent
from agent.library.items.run_items import ModelResponse
from agent.library.models.endpoint_model import EndpointModel
from agent.library.models.model_interface import Model, ModelTracing
from agent.library.rounds.input_compaction import InputCompaction, model_input
from agent.library.state.run_config import CallModelData, ModelInputData
from agent.library.state.run_scope import RunScope
from agent.library.tracing.run_spans import get_current_span
from agent.model.client import ModelError
from agent.recovery.classify import FailureKind, classify

_ENDS = ("response.completed", "response.incomplete", "response.failed")


@dataclasses.dataclass(frozen=True)
class TurnTools:
    """The tools and handoffs of an agent in a turn."""

    tools: list[RawItem]
    handoffs: list[Handoff]


@dataclasses.dataclass(frozen=True)
class _Request:
    instructions: str | None
    input: list[InputItem]
    options: ModelOptions
    tools: TurnTools
    prompt: RawItem


async def turn_tools(scope: RunScope, agent: Agent) -> TurnTools:
    """Return the tools and handoffs that are enabled now."""
    tools, handoffs = await asyncio.gather(
        agent.get_all_tools(scope.context), enabled_handoffs(agent, scope.context)
    )
    return TurnTools(tools, handoffs)


async def call_model(
    scope: RunScope, agent: Agent, tools: TurnTools, compaction: InputCompaction
) -> ModelResponse:
    """Call the agent's model and return its response; its usage is added to the run's.

    Raises:
        ModelBehaviorError: the model's stream has no final response.
        ModelError: the request failed and cannot be recovered.
        ModelTimeoutError: it took longer than `ModelSettings.timeout`.
        UserError: the caller's filter returns the wrong type.
    """
    instructions, prompt = await asyncio.gather(
        agent.get_system_prompt(scope.context), agent.get_prompt(scope.context)
    )
    options = agent.model_settings.resolve(scope.config.model_settings)
    if agent.reset_tool_choice and agent.name in scope.state.used_tools:
        options = dataclasses.replace(options, tool_choice=None)

    async def make_request() -> _Request:
        data = await _filter_input(scope, agent, ModelInputData(model_input(scope), instructions))
        return _Request(data.instructions, data.input, options, tools, prompt)

    request = await make_request()
    model = scope.find_model(agent)
    if isinstance(model, EndpointModel):
        schema = output_schema_of(agent.output_type)
        tool_list = [*tools.tools, *tools.handoffs]
        size = await model.request(request.instructions, request.input, options, tool_list, schema)
        if await compaction.before_call(model, size):
            request = await make_request()
    await scope.hooks.on_llm_start(scope.context, agent, request.instructions, request.input)
    if agent.hooks is not None:
        await agent.hooks.on_llm_start(scope.context, agent, request.instructions, request.input)
    response = await _await_response(options.timeout, _answer(scope, model, agent, request))
    compaction.record_response(response)
    scope.context.usage.add(response.usage)
    scope.state.model_responses.append(response)
    if agent.hooks is not None:
        await agent.hooks.on_llm_end(scope.context, agent, response)
    await scope.hooks.on_llm_end(scope.context, agent, response)
    return response


async def _filter_input(scope: RunScope, agent: Agent, data: ModelInputData) -> ModelInputData:
    function = scope.config.call_model_input_filter
    if function is None:
        return data
    call_data = CallModelData(
        ModelInputData(list(data.input), data.instructions), agent, scope.context.context
    )
    try:
        result = await resolve_value(function(call_data))
        if not isinstance(result, ModelInputData):
            raise UserError("call_model_input_filter must return a ModelInputData instance")
    except Exception as error:
        span = get_current_span()
        if span is not None:
            is_open = scope.config.trace_include_sensitive_data
            text = str(error) if is_open else "Error details are redacted."
            span.set_error({"message": "Error in call_model_input_filter", "data": {"error": text}})
        raise
    return ModelInputData(without_duplicates(result.input), result.instructions)


def without_duplicates(items: list[InputItem]) -> list[InputItem]:
    """Return items without duplicates by id: the latest of each is kept.

    It is at the position of the first one, except for outputs, which must follow their calls.
    """
    by_key: dict[object, InputItem] = {}
    for index, item in enumerate(items):
        identity = item.get("call_id") or item.get("id")
        kind = item_type(item)
        is_own = identity is None or identity == HANDLER_MESSAGE_ID
        key = index if is_own else (kind, identity)
        if kind.endswith("_output"):
            by_key.pop(key, None)
        by_key[key] = item
    return list(by_key.values())


async def _await_response(
    seconds: float | None, answer: asyncio.Future[ModelResponse] | RawItem
) -> ModelResponse:
    if seconds is None:
        response: ModelResponse = await answer
        return response
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError as error:
        if isinstance(error, ModelTimeoutError):
            raise
        raise ModelTimeoutError(seconds) from error


async def _answer(scope: RunScope, model: Model, agent: Agent, request: _Request) -> ModelResponse:
    call = _arguments(scope, agent, request)
    if scope.emit is not None:
        return await _stream(scope, model, call)
    step = scope.steps.reserve(f"model {len(scope.state.model_responses) + 1}")
    if not scope.steps.is_recorded:
        return await model.get_response(**call)

    async def work() -> RawItem:
        try:
            return response_json(await model.get_response(**call))
        except ModelError as error:
            if classify(error).kind is not FailureKind.CONTEXT_OVERFLOW:
                raise
            # Recorded like a response, so that a resumed run compacts at the same point.
            return {"too_long": [error.kind, str(error), error.status]}

    answer = await step.run(work)
    if "too_long" in answer:
        kind, message, status = answer["too_long"]
        raise ModelError(kind, message, status=status)
    return read_model_response(answer)


def _arguments(scope: RunScope, agent: Agent, request: _Request) -> dict[str, RawItem]:
    previous = scope.previous_response_id
    if scope.auto_previous_response_id and scope.state.model_responses:
        previous = scope.state.model_responses[-1].response_id
    return {
        "system_instructions": request.instructions,
        "input": request.input,
        "model_settings": request.options,
        "tools": request.tools.tools,
        "output_schema": output_schema_of(agent.output_type),
        "handoffs": request.tools.handoffs,
        "tracing": _tracing(scope),
        "previous_response_id": previous,
        "conversation_id": scope.conversation_id,
        "prompt": request.prompt,
    }


def _tracing(scope: RunScope) -> ModelTracing:
    if scope.config.tracing_disabled:
        return ModelTracing.DISABLED
    if scope.config.trace_include_sensitive_data:
        return ModelTracing.ENABLED
    return ModelTracing.ENABLED_WITHOUT_DATA


async def _stream(scope: RunScope, model: Model, call: dict[str, RawItem]) -> ModelResponse:
    """Pass on the events, and return the response in the last one."""
    final: RawItem = None
    items: list[RawItem] = []
    async for event in model.stream_response(**call):
        kind = item_type(event)
        if kind in _ENDS:
            final = read(event, "response")
        elif kind == "response.output_item.done":
            items.append(read(event, "item"))
        scope.announce(RawResponsesStreamEvent(event))
    if final is None:
        raise ModelBehaviorError("Model did not produce a final response!")
    usage = read(final, "usage")
    return ModelResponse(
        output=list(read(final, "output") or items),
        usage=usage_of(usage),
        response_id=read(final, "id"),
        request_id=read(final, "_request_id"),
        stop_reason=read(final, "stop_reason"),
    )
