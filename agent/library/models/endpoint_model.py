"""The program's models as a `Model`, with the program's requests, retries and fallbacks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final

from agent.abort import AbortController
from agent.errors import AgentError
from agent.events import AgentEvent, TextDelta, ThinkingDelta, ToolInputDelta
from agent.library.agents.agent_output import AgentOutputSchemaBase
from agent.library.base.model_options import ModelOptions
from agent.library.base.raw_items import DictItem, InputItem, RawItem, as_json, input_list, read
from agent.library.base.run_usage import usage_to_json
from agent.library.items.run_items import ModelResponse
from agent.library.models.item_messages import (
    items_of,
    messages_of,
    refusal_item,
    run_usage,
)
from agent.library.models.model_interface import Model, ModelTracing
from agent.library.tools.function_tool import FunctionTool
from agent.library.tracing.run_spans import generation_span
from agent.loop.model_turn import Answered, ModelTurn, Recovery, TurnResult
from agent.memory.budget import ANSWER_SHARE
from agent.memory.estimate import total_tokens
from agent.messages import text_block
from agent.model.client import Effort, ModelClient, ModelError, ModelRequest
from agent.recovery.overflow import AnswerRoom
from agent.recovery.retry import RequestSource, policy_for
from agent.stream import TurnEvents

_EFFORTS: Final[Mapping[str, Effort]] = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}


class EndpointModel(Model):
    """One model of the program's endpoints."""

    def __init__(self, client: ModelClient, model: str, endpoint: str) -> None:
        """`endpoint` identifies the server, for circuit breakers."""
        self.client = client
        self.name = model
        room = AnswerRoom(lambda request: total_tokens(request.messages))
        self.recovery = Recovery(policy_for(RequestSource.SUB_AGENT), endpoint, room)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[InputItem],
        model_settings: ModelOptions,
        tools: list[RawItem],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[RawItem],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: RawItem,
    ) -> ModelResponse:
        """Return one response.

        Raises:
            ModelError: the request failed and cannot be recovered.
        """
        request = await self.request(
            system_instructions, input, model_settings, [*tools, *handoffs], output_schema
        )
        return await self._call_traced(request, tracing, input, None)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[InputItem],
        model_settings: ModelOptions,
        tools: list[RawItem],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[RawItem],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: RawItem,
    ) -> AsyncGenerator[RawItem, None]:
        """Yield one response as events of the Responses API. Raises as `get_response`."""
        request = await self.request(
            system_instructions, input, model_settings, [*tools, *handoffs], output_schema
        )
        deltas: asyncio.Queue[DictItem | None] = asyncio.Queue()
        task = asyncio.ensure_future(self._call_traced(request, tracing, input, deltas))
        task.add_done_callback(lambda _task: deltas.put_nowait(None))
        try:
            yield DictItem(type="response.created", response=DictItem(model=self.name))
            while (delta := await deltas.get()) is not None:
                yield delta
            response = await task
        finally:
            task.cancel()
            await asyncio.wait({task})
        for index, item in enumerate(response.output):
            yield DictItem(type="response.output_item.done", item=item, output_index=index)
        whole = DictItem(
            id=response.response_id,
            output=response.output,
            usage=response.usage,
            model=self.name,
            status="completed",
            stop_reason=response.stop_reason,
        )
        yield DictItem(type="response.completed", response=whole)

    async def request(
        self,
        system: str | None,
        input: str | list[InputItem],
        options: ModelOptions,
        tools: Sequence[RawItem],
        schema: AgentOutputSchemaBase | None,
    ) -> ModelRequest:
        """Return the request for the arguments of `get_response`; `tools` includes handoffs."""
        capabilities = await self.client.capabilities(self.name)
        # Input and answer share the window; the answer must not take most of a small one.
        usual = int(capabilities.context_window * ANSWER_SHARE)
        wire = tuple(_wire_tool(each) for each in tools)
        effort = read(options.reasoning, "effort")
        sampling = {
            name: value
            for name in ("temperature", "top_p")
            if (value := getattr(options, name)) is not None
        }
        return ModelRequest(
            model=self.name,
            system=(text_block(system),) if system else (),
            tools=wire,
            messages=messages_of(input_list(input)),
            max_tokens=min(options.max_tokens or usual, capabilities.max_output_tokens),
            effort=_EFFORTS.get(str(effort)) if effort is not None else None,
            # Endpoints reject sampling parameters for a model that thinks.
            thinking=not sampling and effort not in ("none", "minimal"),
            tool_choice=_tool_choice(options) if wire else None,
            extra_body={**sampling, **(options.extra_body or {}), **(options.extra_args or {})},
            output_schema=schema.json_schema() if schema and not schema.is_plain_text() else None,
        )

    async def _call_traced(
        self,
        request: ModelRequest,
        tracing: ModelTracing,
        model_input: str | list[InputItem],
        deltas: asyncio.Queue[DictItem | None] | None,
    ) -> ModelResponse:
        config = {"max_tokens": request.max_tokens, **request.extra_body}
        is_disabled = tracing.is_disabled()
        with generation_span(disabled=is_disabled, model=self.name, model_config=config) as span:
            try:
                response = await self._answer(request, deltas)
            except ModelError as error:
                span.set_error({"message": "Error getting response", "data": {"kind": error.kind}})
                raise
            data = vars(span.span_data)
            data["usage"] = usage_to_json(response.usage)
            if tracing.include_data():
                data["input"] = input_list(model_input)
                data["output"] = [as_json(each) for each in response.output]
            return response

    async def _answer(
        self,
        request: ModelRequest,
        deltas: asyncio.Queue[DictItem | None] | None,
    ) -> ModelResponse:
        result = await self._turn(request, deltas)
        invalid = {use.id: use.invalid_json for use in result.tool_uses if use.invalid_json}
        output = items_of(result.message, invalid)
        if result.stop_reason == "refusal":
            output = [refusal_item(result.message.text or result.stop_detail)]
        return ModelResponse(
            output,
            run_usage(result.usage),
            result.message.api_id,
            stop_reason=result.stop_reason,
        )

    async def _turn(
        self, request: ModelRequest, deltas: asyncio.Queue[DictItem | None] | None
    ) -> Answered:
        async def emit(event: AgentEvent) -> None:
            delta = _delta(event)
            if deltas is not None and delta is not None:
                deltas.put_nowait(delta)

        abort = AbortController()
        turn = ModelTurn(self.client, self.recovery, request, TurnEvents(emit, "library"), step=1)
        result: TurnResult = await turn.run(abort.signal)
        if isinstance(result, Answered):
            return result
        raise result.error if result.type == "failed" else AgentError("The request was stopped.")


def _delta(event: AgentEvent) -> DictItem | None:
    match event:
        case TextDelta():
            return DictItem(
                type="response.output_text.delta",
                delta=event.text,
                item_id=event.message_uid,
                content_index=event.block_index,
            )
        case ThinkingDelta():
            return DictItem(
                type="response.reasoning_summary_text.delta",
                delta=event.text,
                item_id=event.message_uid,
                summary_index=0,
            )
        case ToolInputDelta() if not event.partial_json:
            call = DictItem(
                type="function_call",
                id=f"fc_{event.tool_use_id}",
                call_id=event.tool_use_id,
                name=event.name,
                arguments="",
                status="in_progress",
            )
            return DictItem(type="response.output_item.added", item=call)
        case ToolInputDelta():
            return DictItem(
                type="response.function_call_arguments.delta",
                delta=event.partial_json,
                item_id=f"fc_{event.tool_use_id}",
            )
        case _:
            return None


def _wire_tool(tool: RawItem) -> Mapping[str, object]:
    if isinstance(tool, FunctionTool):
        wire: dict[str, object] = {
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.params_json_schema,
        }
        if tool.strict_json_schema:
            wire["strict"] = True
        return wire
    return {
        "name": tool.tool_name,
        "description": tool.tool_description,
        "input_schema": tool.input_json_schema,
    }


def _tool_choice(options: ModelOptions) -> dict[str, object] | None:
    choice: dict[str, object] | None
    match options.tool_choice:
        case None:
            choice = None
        case "auto" | "none":
            choice = {"type": options.tool_choice}
        case "required":
            choice = {"type": "any"}
        case name:
            choice = {"type": "tool", "name": str(name)}
    if options.parallel_tool_calls is False:
        choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
    return choice
