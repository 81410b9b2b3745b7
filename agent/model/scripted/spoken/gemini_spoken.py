"""The scripted server as Google's `generateContent`."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from agent.model.dialects.json_members import array, record, text
from agent.model.scripted.faults import ErrorFault, Quirk
from agent.model.scripted.frames import Frame, ScriptedAnswer, frames_of
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
from permissions.base.text.late_pattern import compile_late

ASKED: Final = compile_late(r"/v1(?:beta)?/models/([^/:]+):(streamGenerateContent|generateContent)")
KNOWN_FIELDS: Final = frozenset(
    {
        *("contents", "systemInstruction", "tools", "toolConfig", "generationConfig"),
        *("safetySettings", "cachedContent", "serviceTier", "labels"),
    }
)
NO_SIGNATURE: Final = "skip_thought_signature_validator"
_STATUS: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    529: "UNAVAILABLE",
}
_FINISH: Final[Mapping[str, str]] = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def canonical(path: str, body: Body) -> dict[str, object]:
    """Return the request as a body of the Messages API."""
    messages = MessageList()
    open_ids: list[str] = []
    count = 0
    for content in array(body, "contents"):
        role = "assistant" if content.get("role") == "model" else "user"
        for part in array(content, "parts"):
            call, result = record(part, "functionCall"), record(part, "functionResponse")
            if call:
                count += 1
                call_id = text(call, "id") or f"call_{count}"
                open_ids.append(call_id)
                block = {
                    "type": "tool_use",
                    "id": call_id,
                    "name": call.get("name"),
                    "input": call.get("args") or {},
                }
                messages.add(role, block)
            elif result:
                call_id = text(result, "id") or (open_ids[0] if open_ids else "")
                if call_id in open_ids:
                    open_ids.remove(call_id)
                response = record(result, "response")
                output = str(response.get("error") or response.get("output"))
                messages.add(role, result_block(call_id, output, is_error="error" in response))
            elif text(part, "text"):
                messages.add(role, {"type": "text", "text": part["text"]})
    path_parts = ASKED.search(path)
    model = unquote(path_parts[1]) if path_parts else ""
    system = "".join(text(p, "text") for p in array(record(body, "systemInstruction"), "parts"))
    tools = [
        {"name": each.get("name"), "input_schema": each.get("parametersJsonSchema")}
        for tool in array(body, "tools")
        for each in array(tool, "functionDeclarations")
    ]
    limit = record(body, "generationConfig").get("maxOutputTokens")
    return canonical_body(model, limit, system, tools, messages)


def find_problem(body: Body) -> RequestProblem | None:
    """Return why the real endpoint would reject the request."""
    message = _fields(body) or _tools(body) or _turns(array(body, "contents"))
    return RequestProblem(message) if message else None


def _fields(body: Body) -> str | None:
    for name in body:
        if name not in KNOWN_FIELDS:
            return f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    if not array(body, "contents"):
        return "* GenerateContentRequest.contents: contents is not specified"
    if "temperature" in record(body, "generationConfig"):
        return "temperature: leave it at its default for this model."
    return None


def _tools(body: Body) -> str | None:
    for tool in array(body, "tools"):
        for each in array(tool, "functionDeclarations"):
            name = text(each, "name")
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", name):
                return f"Invalid function name: {name!r}."
    return None


def _turns(contents: Sequence[Mapping[str, object]]) -> str | None:
    last_role = ""
    calls: list[str] = []
    for index, content in enumerate(contents):
        role = text(content, "role")
        parts = array(content, "parts")
        if role not in ("user", "model"):
            return "Please use a valid role: user, model."
        if role == last_role or (not index and role != "user"):
            return "Please ensure that multiturn requests alternate between user and model."
        if not parts:
            return (
                f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be "
                "empty"
            )
        results = [text(record(p, "functionResponse"), "name") for p in parts]
        results = [name for name in results if name]
        if len(results) != len(calls) or (calls and sorted(results) != sorted(calls)):
            return (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        calls = [text(record(p, "functionCall"), "name") for p in parts]
        calls = [name for name in calls if name]
        last_role = role
    if last_role != "user":
        return "Please ensure that the last turn is the user's."
    return _signatures(contents)


def _signatures(contents: Sequence[Mapping[str, object]]) -> str | None:
    """Check the signatures of the calls since the last prompt; earlier calls always pass."""
    start = 0
    for index, content in enumerate(contents):
        parts = array(content, "parts")
        if content.get("role") == "user" and not any("functionResponse" in part for part in parts):
            start = index
    for content in contents[start:]:
        calls = [part for part in array(content, "parts") if "functionCall" in part]
        if not calls:
            continue
        mark = text(calls[0], "thoughtSignature")
        call = record(calls[0], "functionCall")
        if not mark:
            return (
                "Function call is missing a thought_signature in functionCall parts. This is "
                f"required for tools to work correctly. (function call {call.get('name')})"
            )
        if mark not in (NO_SIGNATURE, _signature(call)):
            return "Thought signature is not valid."
    return None


def _signature(call: Mapping[str, object]) -> str:
    payload = f"{call.get('name')} {json.dumps(call.get('args') or {}, sort_keys=True)}"
    return base64.b64encode(seal("thought", payload).encode()).decode()


class GeminiEncoder:
    """Encodes one answer as a sequence of `generateContent` responses."""

    def __init__(self, answer: ScriptedAnswer, body: Body, quirks: Sequence[Quirk]) -> None:
        """`body` is the request."""
        self._answer = answer
        self._quirks = {each.name for each in quirks}
        self._call: dict[str, object] = {}
        self._arguments = ""
        self._calls = 0

    def encode(self, frame: Frame) -> bytes:
        """See `Encoder`."""
        return b"".join(data_line(each) for each in self.responses(frame))

    def error(self, fault: ErrorFault) -> bytes:
        """See `Encoder`."""
        status = {"overloaded_error": 503, "rate_limit_error": 429}.get(fault.error_type, 500)
        return data_line({"error": google_error(status, fault.message)})

    def responses(self, frame: Frame) -> Iterator[dict[str, object]]:
        """Yield the responses that correspond to an event of the Messages API."""
        data = frame.data
        match frame.event:
            case "content_block_start":
                block = record(data, "content_block")
                self._call = dict(block) if block.get("type") == "tool_use" else {}
                self._arguments = ""
            case "content_block_delta":
                yield from self._delta(record(data, "delta"))
            case "content_block_stop" if self._call:
                yield self._response([self._call_part()])
            case "message_delta":
                stop = text(record(data, "delta"), "stop_reason")
                finish = _FINISH.get(stop, "STOP")
                if "malformed_call" in self._quirks:
                    finish = "MALFORMED_FUNCTION_CALL"
                parts: list[dict[str, object]] = []
                if not self._calls:
                    mark = base64.b64encode(b"text.signature").decode()
                    parts = [{"text": "", "thoughtSignature": mark}]
                response = self._response(parts, finish)
                usage = record(data, "usage")
                if usage:
                    response["usageMetadata"] = _usage({**self._answer.start_usage, **usage})
                yield response

    def _delta(self, delta: Mapping[str, object]) -> Iterator[dict[str, object]]:
        match delta.get("type"):
            case "text_delta":
                yield self._response([{"text": delta["text"]}])
            case "thinking_delta":
                yield self._response([{"text": delta["thinking"], "thought": True}])
            case "input_json_delta":
                self._arguments += text(delta, "partial_json")

    def _call_part(self) -> dict[str, object]:
        self._calls += 1
        call: dict[str, object] = {
            "name": self._call["name"],
            "args": json.loads(self._arguments or "{}"),
        }
        part: dict[str, object] = {"functionCall": call}
        if self._calls == 1:
            part["thoughtSignature"] = _signature(call)
        if "no_ids" not in self._quirks:
            call["id"] = self._call["id"]
        return part

    def _response(
        self, parts: Sequence[Mapping[str, object]], finish: str | None = None
    ) -> dict[str, object]:
        candidate: dict[str, object] = {
            "index": 0,
            "content": {"role": "model", "parts": list(parts)},
        }
        if finish:
            candidate["finishReason"] = finish
        return {
            "candidates": [candidate],
            "modelVersion": self._answer.model,
            "responseId": self._answer.message_id,
        }


def _usage(usage: Mapping[str, object]) -> dict[str, object]:
    prompt, read = input_tokens(usage)
    output, thinking = output_tokens(usage)
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": read,
        "candidatesTokenCount": output - thinking,
        "thoughtsTokenCount": thinking,
        "totalTokenCount": prompt + output,
    }


def google_error(status: int, message: str) -> dict[str, object]:
    """Return the record of an error."""
    other = "INTERNAL" if status >= 500 else "FAILED_PRECONDITION"
    return {"code": status, "message": message, "status": _STATUS.get(status, other)}


def error_body(status: int, error_type: str, message: str) -> str:
    """Return the body of a response with an error status."""
    return json.dumps({"error": google_error(status, message)})


def whole_content(answer: ScriptedAnswer) -> dict[str, object]:
    """Return the answer as one JSON object."""
    encoder = GeminiEncoder(answer, {}, ())
    parts: list[Mapping[str, object]] = []
    last: dict[str, object] = {}
    for frame in frames_of(answer, words_per_delta=1000):
        for last in encoder.responses(frame):
            parts += array(record(array(last, "candidates")[0], "content"), "parts")
    candidate = {**array(last, "candidates")[0], "content": {"role": "model", "parts": parts}}
    return {**last, "candidates": [candidate]}


GEMINI: Final = SpokenDialect(canonical, find_problem, GeminiEncoder, error_body, whole_content)
