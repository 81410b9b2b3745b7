"""The scripted server as Chat Completions, with the deviations of various servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agent.model.dialects.json_members import array, record, text
from agent.model.scripted.faults import ErrorFault, Quirk
from agent.model.scripted.frames import Frame, ScriptedAnswer
from agent.model.scripted.spoken.openai_errors import openai_error, openai_error_body
from agent.model.scripted.spoken.responses_spoken import call_arguments, schema_problem
from agent.model.scripted.spoken.spoken_dialect import (
    Body,
    MessageList,
    SpokenDialect,
    canonical_body,
    data_line,
    input_tokens,
    output_tokens,
    result_block,
)
from agent.model.scripted.validate import RequestProblem

KNOWN_FIELDS: Final = frozenset(
    {
        *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream"),
        *("stream_options", "max_tokens", "max_completion_tokens", "reasoning_effort"),
        *("response_format", "temperature", "top_p", "seed", "stop", "reasoning"),
    }
)
_FINISH: Final[Mapping[str, str]] = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def canonical(_path: str, body: Body) -> dict[str, object]:
    """Return the request as a body of the Messages API."""
    messages = MessageList()
    system = ""
    for message in array(body, "messages"):
        match message.get("role"):
            case "system" | "developer":
                system += _text(message)
            case "assistant":
                if content := _text(message):
                    messages.add("assistant", {"type": "text", "text": content})
                for call in array(message, "tool_calls"):
                    messages.add("assistant", _call(call))
            case "tool":
                content = _text(message)
                is_error = content.startswith("Error: ")
                result = result_block(message.get("tool_call_id"), content, is_error=is_error)
                messages.add("user", result)
            case _:
                messages.add("user", {"type": "text", "text": _text(message)})
    tools = [
        {
            "name": record(tool, "function").get("name"),
            "description": record(tool, "function").get("description"),
            "input_schema": record(tool, "function").get("parameters"),
        }
        for tool in array(body, "tools")
    ]
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    return canonical_body(body.get("model"), limit, system, tools, messages)


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text(part, "text") for part in array(message, "content"))


def _call(call: Mapping[str, object]) -> dict[str, object]:
    function = record(call, "function")
    arguments = call_arguments(function)
    return {"type": "tool_use", "id": call.get("id"), "name": function["name"], "input": arguments}


def find_problem(body: Body) -> RequestProblem | None:
    """Return why the real endpoint would reject the request."""
    message = _fields(body) or _tools(body) or _messages(array(body, "messages"))
    return RequestProblem(message) if message else None


def _fields(body: Body) -> str | None:
    for name in body:
        if name not in KNOWN_FIELDS:
            return f"Unrecognized request argument supplied: {name}"
    if not text(body, "model"):
        return "you must provide a model parameter"
    if not array(body, "messages"):
        return "Missing required parameter: 'messages'."
    if "max_tokens" in body and "max_completion_tokens" in body:
        return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    return schema_problem("response_format", record(record(body, "response_format"), "json_schema"))


def _tools(body: Body) -> str | None:
    for index, tool in enumerate(array(body, "tools")):
        function = record(tool, "function")
        if tool.get("type") != "function" or not re.fullmatch(
            r"[a-zA-Z0-9_-]{1,64}", text(function, "name")
        ):
            return f"Invalid 'tools[{index}].function.name': string does not match pattern."
        if problem := schema_problem("function", function):
            return problem
    return None


def _messages(messages: Sequence[Mapping[str, object]]) -> str | None:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            return f"Invalid value: '{role}'. Supported values are: 'system', 'user' and so on."
        if role == "system" and index:
            return "System message must be at the beginning."
        if role == "tool":
            call_id = text(message, "tool_call_id")
            if call_id not in waiting:
                return (
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceding message with 'tool_calls'."
                )
            waiting.remove(call_id)
            continue
        if waiting:
            return _missing_results_text(waiting)
        calls = array(message, "tool_calls")
        if not calls and not message.get("content"):
            return f"Invalid value for 'content': expected a string, got null. (messages[{index}])"
        waiting = [text(call, "id") for call in calls]
    return _missing_results_text(waiting) if waiting else None


def _missing_results_text(call_ids: Sequence[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        f"{', '.join(call_ids)}"
    )


class ChatEncoder:
    """Encodes one answer as chunks."""

    def __init__(self, answer: ScriptedAnswer, body: Body, quirks: Sequence[Quirk]) -> None:
        """`body` is the request; `quirks` are the deviations to simulate."""
        self._answer = answer
        self._quirks = {each.name for each in quirks}
        self._with_usage = bool(record(body, "stream_options").get("include_usage"))
        self._calls = -1
        self._head: dict[str, object] = {}
        self._arguments = ""
        self._usage: Mapping[str, object] = {}

    def encode(self, frame: Frame) -> bytes:
        """See `Encoder`."""
        chunks = b"".join(data_line(chunk) for chunk in self._chunks(frame))
        if frame.event == "ping" and "comments" in self._quirks:
            chunks += b": PROCESSING\n\n"
        if frame.event == "message_stop":
            chunks += b"data: [DONE]\n\n"
        return chunks

    def error(self, fault: ErrorFault) -> bytes:
        """See `Encoder`."""
        status = {"overloaded_error": 529, "rate_limit_error": 429}.get(fault.error_type, 500)
        return data_line({"error": openai_error(status, fault.error_type, fault.message)})

    def _chunk(self, delta: object, finish: str | None = None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {
            "id": self._answer.message_id.replace("msg_", "chatcmpl-", 1),
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": self._answer.model,
            "choices": [choice],
        }

    def _chunks(self, frame: Frame) -> Iterator[dict[str, object]]:
        data = frame.data
        match frame.event:
            case "message_start":
                yield self._chunk({"role": "assistant", "content": ""})
            case "content_block_start":
                yield from self._start(record(data, "content_block"))
            case "content_block_delta":
                yield from self._delta(record(data, "delta"))
            case "content_block_stop":
                yield from self._stop()
            case "message_delta":
                stop = text(record(data, "delta"), "stop_reason")
                finish = _FINISH.get(stop, "stop")
                if "finish_stop" in self._quirks:
                    finish = "stop"
                self._usage = record(data, "usage")
                yield self._chunk({}, finish)
                if self._with_usage and self._usage:
                    usage = _usage({**self._answer.start_usage, **self._usage})
                    yield {**self._chunk({}), "choices": [], "usage": usage}

    def _start(self, block: Mapping[str, object]) -> Iterator[dict[str, object]]:
        self._head = {}
        if block.get("type") != "tool_use":
            return
        self._calls += 1
        self._arguments = ""
        self._head = {
            "index": 0 if "zero_index" in self._quirks else self._calls,
            "id": "" if "no_ids" in self._quirks else block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": ""},
        }
        if not self._sends_whole_calls:
            yield self._chunk({"tool_calls": [self._head]})

    @property
    def _sends_whole_calls(self) -> bool:
        """Whether calls are sent in one piece, at their end."""
        return bool(self._quirks & {"whole_calls", "object_arguments", "calls_as_text"})

    def _delta(self, delta: Mapping[str, object]) -> Iterator[dict[str, object]]:
        match delta.get("type"):
            case "text_delta":
                yield self._chunk({"content": delta["text"]})
            case "thinking_delta":
                field = "reasoning" if "reasoning_field" in self._quirks else "reasoning_content"
                yield self._chunk({field: delta["thinking"]})
            case "input_json_delta":
                self._arguments += text(delta, "partial_json")
                if not self._sends_whole_calls:
                    function = {"arguments": delta["partial_json"]}
                    call: dict[str, object] = {"index": self._head["index"], "function": function}
                    yield self._chunk({"tool_calls": [call]})

    def _stop(self) -> Iterator[dict[str, object]]:
        if not self._head or not self._sends_whole_calls:
            return
        name = record(self._head, "function")["name"]
        if "calls_as_text" in self._quirks:
            content = f'<tool_call>\n{{"name": "{name}", "arguments": {self._arguments or "{}"}}}\n'
            for piece in (content[:5], content[5:20], content[20:], "</tool_call>"):
                yield self._chunk({"content": piece})
            return
        arguments: object = self._arguments
        if "object_arguments" in self._quirks:
            arguments = json.loads(self._arguments or "{}")
        call = {**self._head, "function": {"name": name, "arguments": arguments}}
        yield self._chunk({"tool_calls": [call]})


def _usage(usage: Mapping[str, object]) -> dict[str, object]:
    prompt, read = input_tokens(usage)
    completion, thinking = output_tokens(usage)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": read},
        "completion_tokens_details": {"reasoning_tokens": thinking},
    }


def whole_completion(answer: ScriptedAnswer) -> dict[str, object]:
    """Return the answer as one JSON object."""
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in answer.blocks
        if block.get("type") == "tool_use"
    ]
    content = "".join(str(b["text"]) for b in answer.blocks if b.get("type") == "text")
    message: dict[str, object] = {"role": "assistant", "content": content or None}
    if calls:
        message["tool_calls"] = calls
    finish = _FINISH.get(answer.stop_reason, "stop")
    return {
        "id": answer.message_id.replace("msg_", "chatcmpl-", 1),
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage({**answer.start_usage, **answer.final_usage}),
    }


CHAT: Final = SpokenDialect(
    canonical, find_problem, ChatEncoder, openai_error_body, whole_completion
)
