"""The scripted server as OpenAI's Responses API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agent.model.dialects.json_members import array, record, text
from agent.model.scripted.faults import ErrorFault, Quirk
from agent.model.scripted.frames import Frame, ScriptedAnswer, frames_of
from agent.model.scripted.spoken.openai_errors import openai_error, openai_error_body
from agent.model.scripted.spoken.spoken_dialect import (
    Body,
    MessageList,
    SpokenDialect,
    canonical_body,
    data_line,
    input_tokens,
    output_tokens,
    result_block,
    seal,
)
from agent.model.scripted.validate import RequestProblem

KNOWN_FIELDS: Final = frozenset(
    {
        *("model", "input", "instructions", "stream", "store", "include", "tools", "tool_choice"),
        *("parallel_tool_calls", "reasoning", "text", "max_output_tokens", "prompt_cache_key"),
        *("truncation", "stream_options", "safety_identifier", "metadata", "service_tier"),
        *("previous_response_id", "temperature", "top_p", "context_management", "background"),
    }
)
_ITEMS: Final = frozenset({"message", "function_call", "function_call_output", "reasoning"})


def canonical(_path: str, body: Body) -> dict[str, object]:
    """Return the request as a body of the Messages API."""
    messages = MessageList()
    prompt = body.get("input")
    if isinstance(prompt, str):
        messages.add("user", {"type": "text", "text": prompt})
    for item in array(body, "input"):
        _add(messages, item)
    tools = [
        {
            "name": tool.get("name"),
            "description": tool.get("description"),
            "input_schema": tool.get("parameters"),
        }
        for tool in array(body, "tools")
    ]
    limit = body.get("max_output_tokens")
    return canonical_body(body.get("model"), limit, text(body, "instructions"), tools, messages)


def _add(messages: MessageList, item: Mapping[str, object]) -> None:
    match item.get("type") or "message":
        case "message":
            role = text(item, "role")
            place = {"developer": "system", "system": "system"}.get(role, role)
            messages.add(place, *_blocks(item.get("content")))
        case "function_call":
            call = {
                "type": "tool_use",
                "id": item.get("call_id"),
                "name": item.get("name"),
                "input": call_arguments(item),
            }
            messages.add("assistant", call)
        case "function_call_output":
            content = "".join(str(each.get("text", "")) for each in _blocks(item.get("output")))
            is_error = content.startswith("Error: ")
            messages.add("user", result_block(item.get("call_id"), content, is_error=is_error))
        case "reasoning":
            content = "".join(text(each, "text") for each in array(item, "summary"))
            block = {
                "type": "thinking",
                "thinking": content,
                "signature": item.get("encrypted_content"),
            }
            messages.add("assistant", block)


def _blocks(content: object) -> list[dict[str, object]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks: list[dict[str, object]] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and "text" in part:
            blocks.append({"type": "text", "text": part["text"]})
        elif isinstance(part, Mapping):
            source = {"type": "url", "url": part.get("image_url") or part.get("file_data")}
            blocks.append({"type": "image", "source": source})
    return blocks


def call_arguments(call: Mapping[str, object]) -> object:
    """Return a call's input; empty if it is not JSON."""
    try:
        return json.loads(text(call, "arguments") or "{}")
    except ValueError:
        return {}


def find_problem(body: Body) -> RequestProblem | None:
    """Return why the real endpoint would reject the request."""
    message = _fields(body) or _tools(body) or _items(array(body, "input"))
    return RequestProblem(message) if message else None


def _fields(body: Body) -> str | None:
    for name in body:
        if name not in KNOWN_FIELDS:
            return f"Unknown parameter: '{name}'."
    if not text(body, "model"):
        return "Missing required parameter: 'model'."
    if not isinstance(body.get("input"), str | list):
        return "Missing required parameter: 'input'."
    return schema_problem("response_format", record(record(body, "text"), "format"))


def schema_problem(where: str, holder: Mapping[str, object]) -> str | None:
    """Return why a schema cannot be enforced; None if it can, or need not be."""
    schema = holder.get("schema", holder.get("parameters"))
    name = text(holder, "name")
    if not holder.get("strict") or not isinstance(schema, Mapping):
        return None
    wrong = _open_object(schema)
    if wrong is None:
        return None
    return f"Invalid schema for {where} '{name}': In context=(), {wrong}"


def _open_object(schema: Mapping[str, object]) -> str | None:
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "'additionalProperties' is required to be supplied and to be false."
        properties = record(schema, "properties")
        if set(properties) != set(schema.get("required") or ()):  # type: ignore[call-overload]
            return "'required' is required to be an array including every key in properties."
    for part in (*record(schema, "properties").values(), schema.get("items")):
        if isinstance(part, Mapping) and (wrong := _open_object(part)):
            return wrong
    return None


def _tools(body: Body) -> str | None:
    names: set[str] = set()
    for index, tool in enumerate(array(body, "tools")):
        name = text(tool, "name")
        if tool.get("type") == "function" and not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
            return (
                f"Invalid 'tools[{index}].name': string does not match pattern. Expected a string "
                "that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters."
            )
        if name in names:
            return f"Duplicate tool name '{name}'."
        names.add(name)
        if problem := schema_problem("function", tool):
            return problem
    return None


def _items(items: Sequence[Mapping[str, object]]) -> str | None:
    has_output: dict[str, bool] = {}
    for index, item in enumerate(items):
        kind = str(item.get("type") or "message")
        if kind not in _ITEMS:
            return f"Invalid value: '{kind}'."
        if kind == "message" and not (item.get("content") and text(item, "role")):
            return f"Invalid 'input[{index}].content': empty."
        if kind == "reasoning" and (problem := _reasoning(item, items[index + 1 :])):
            return problem
        call_id = text(item, "call_id")
        if len(call_id) > 64:
            return f"Invalid 'input[{index}].call_id': string too long. Maximum length 64."
        if kind == "function_call":
            if call_id in has_output:
                return f"Duplicate function_call for call_id {call_id}."
            has_output[call_id] = False
        if kind == "function_call_output":
            if call_id not in has_output:
                return f"No tool call found for function call output with call_id {call_id}."
            has_output[call_id] = True
    for call_id, is_complete in has_output.items():
        if not is_complete:
            return f"No tool output found for function call {call_id}."
    return None


def _reasoning(item: Mapping[str, object], following: Sequence[Mapping[str, object]]) -> str | None:
    item_id = text(item, "id")
    if not item_id:
        return "Missing required parameter: 'input.id'."
    next_item = following[0] if following else {}
    is_answer = next_item.get("type") in ("function_call", "reasoning") or (
        next_item.get("role") == "assistant"
    )
    if not is_answer:
        return (
            f"Item '{item_id}' of type 'reasoning' was provided without its required following "
            "item."
        )
    if text(item, "encrypted_content") != seal("enc", item_id):
        return (
            "The encrypted content could not be verified. Reason: Encrypted content could not be "
            "decrypted or parsed."
        )
    return None


class ResponsesEncoder:
    """Encodes one answer as the events of the Responses API."""

    def __init__(self, answer: ScriptedAnswer, body: Body, quirks: Sequence[Quirk]) -> None:
        """`body` is the request."""
        self._answer = answer
        self._sequence = -1
        self._output: list[dict[str, object]] = []
        self._quirks = {each.name for each in quirks}
        self._stop: Mapping[str, object] = {}
        self._usage: Mapping[str, object] = {}

    def encode(self, frame: Frame) -> bytes:
        """See `Encoder`."""
        events = list(self._events(frame))
        return b"".join(
            data_line(self._number_event(event), str(event["type"])) for event in events
        )

    def error(self, fault: ErrorFault) -> bytes:
        """See `Encoder`."""
        status = {"overloaded_error": 529, "rate_limit_error": 429}.get(fault.error_type, 500)
        failure = openai_error(status, fault.error_type, fault.message)
        event = {**failure, "type": "error"}
        return data_line(self._number_event(event), "error")

    def _number_event(self, event: dict[str, object]) -> dict[str, object]:
        self._sequence += 1
        if "no_index" in self._quirks:
            return {name: value for name, value in event.items() if name != "output_index"}
        return {**event, "sequence_number": self._sequence}

    def _response(self, status: str, **more: object) -> dict[str, object]:
        return {
            "id": self._answer.message_id.replace("msg_", "resp_", 1),
            "object": "response",
            "created_at": 1_790_000_000,
            "status": status,
            "model": self._answer.model,
            "output": self._output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            **more,
        }

    def _events(self, frame: Frame) -> Iterator[dict[str, object]]:
        data = frame.data
        index = data.get("index")
        match frame.event:
            case "message_start":
                yield {"type": "response.created", "response": self._response("in_progress")}
            case "content_block_start":
                yield from self._start_item(index, record(data, "content_block"))
            case "content_block_delta":
                yield from self._delta(index, record(data, "delta"))
            case "content_block_stop":
                yield from self._end_item(index)
            case "message_delta":
                self._stop, self._usage = record(data, "delta"), record(data, "usage")
            case "message_stop":
                yield self._end()

    def _start_item(
        self, index: object, block: Mapping[str, object]
    ) -> Iterator[dict[str, object]]:
        item = _item(block, f"{self._answer.message_id}_{index}")
        self._output.append(item)
        place = {"output_index": index, "item_id": item["id"]}
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item}}
        if item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            part_at = {**place, "content_index": 0, "part": part}
            yield {"type": "response.content_part.added", **part_at}
        elif item["type"] == "reasoning":
            summary = {**place, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}
            yield {"type": "response.reasoning_summary_part.added", **summary}

    def _delta(self, index: object, delta: Mapping[str, object]) -> Iterator[dict[str, object]]:
        item = self._output[-1]
        place = {"output_index": index, "item_id": item["id"]}
        match delta.get("type"):
            case "text_delta":
                item["_text"] = str(item.get("_text", "")) + text(delta, "text")
                fields = {**place, "content_index": 0, "delta": delta["text"], "logprobs": []}
                yield {"type": "response.output_text.delta", **fields}
            case "thinking_delta":
                item["_text"] = str(item.get("_text", "")) + text(delta, "thinking")
                fields = {**place, "summary_index": 0, "delta": delta["thinking"]}
                yield {"type": "response.reasoning_summary_text.delta", **fields}
            case "input_json_delta":
                item["arguments"] = str(item["arguments"]) + text(delta, "partial_json")
                if "whole_calls" not in self._quirks:
                    fields = {**place, "delta": delta["partial_json"]}
                    yield {"type": "response.function_call_arguments.delta", **fields}

    def _end_item(self, index: object) -> Iterator[dict[str, object]]:
        item = self._output[-1]
        content = str(item.pop("_text", ""))
        if item["type"] == "message":
            item["status"] = "completed"
            item["content"] = [{"type": "output_text", "text": content, "annotations": []}]
        elif item["type"] == "reasoning":
            item["summary"] = [{"type": "summary_text", "text": content}] if content else []
            item["encrypted_content"] = seal("enc", str(item["id"]))
        else:
            item["status"] = "completed"
        yield {"type": "response.output_item.done", "output_index": index, "item": item}

    def _end(self) -> dict[str, object]:
        reason = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}.get(
            text(self._stop, "stop_reason")
        )
        details = {"reason": reason} if reason else None
        status = "incomplete" if reason else "completed"
        response = self._response(status, incomplete_details=details)
        if self._usage:
            response["usage"] = _usage({**self._answer.start_usage, **self._usage})
        return {"type": f"response.{status}", "response": response}


def _usage(usage: Mapping[str, object]) -> dict[str, object]:
    prompt, read = input_tokens(usage)
    output, thinking = output_tokens(usage)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": read},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": thinking},
        "total_tokens": prompt + output,
    }


def _item(block: Mapping[str, object], item_id: str) -> dict[str, object]:
    match block.get("type"):
        case "thinking":
            return {"id": f"rs_{item_id}", "type": "reasoning", "summary": []}
        case "tool_use":
            return {
                "id": f"fc_{item_id}",
                "type": "function_call",
                "call_id": block["id"],
                "name": block["name"],
                "arguments": "",
                "status": "in_progress",
            }
        case _:
            return {
                "id": f"msg_{item_id}",
                "type": "message",
                "role": "assistant",
                "status": "in_progress",
                "content": [],
            }


def whole_response(answer: ScriptedAnswer) -> dict[str, object]:
    """Return the answer as one JSON object."""

    encoder = ResponsesEncoder(answer, {}, ())
    for frame in frames_of(answer, words_per_delta=1000):
        last = list(encoder._events(frame))
    return dict(record(last[-1], "response"))


RESPONSES: Final = SpokenDialect(
    canonical, find_problem, ResponsesEncoder, openai_error_body, whole_response
)
