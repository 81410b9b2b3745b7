"""Converts requests to JSON of the Messages API, and its JSON to our events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agent.events import Usage
from agent.history import (
    drop_thinking,
    to_wire,
    without_signed_summary,
    without_system_role,
)
from agent.messages import Message
from agent.model.cache_marks import cache_marks
from agent.model.capabilities import CLEARING, THINKING_EDIT
from agent.model.client import (
    BlockDelta,
    BlockStart,
    BlockStop,
    MessageDelta,
    MessageStart,
    MessageStop,
    ModelCapabilities,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.dialects.compiled_schema import compiled_tools
from agent.model.dialects.foreign_blocks import without_foreign
from agent.model.served.code_calls import (
    CODE_CALLS,
    has_code,
    settle_calls,
    waiting_container,
    with_callers,
)
from agent.model.thinking_field import thinking_field

CONTEXT_BETA: Final = "context-management-2025-06-27"
INTERLEAVED_BETA: Final = "interleaved-thinking-2025-05-14"
ADVISOR_BETA: Final = "advisor-tool-2026-03-01"
COMPACTION_BETA: Final = "compact-2026-09-04"
CLEAR_FROM: Final = 0.6
"""Share of the window at which the endpoint removes old tool results, before we compact."""
CLEAR_AT_LEAST: Final = 0.1
LATEST_TOOL_USES: Final = 10

MOST_TOKENS: Final = 10**12
"""Larger counts are implausible, and their sums could overflow the database's integers."""


def request_body(request: ModelRequest, model: ModelCapabilities) -> dict[str, object]:
    """Return the JSON body, without `stream` and without what the model does not support."""
    tools = _tools(request)
    settled_messages = settle_calls(request.messages, is_offered=has_code(tools))
    messages = to_wire(_messages_to_send(replace(request, messages=settled_messages), model))
    body: dict[str, object] = {
        "model": request.model,
        "max_tokens": min(request.max_tokens, model.max_output_tokens),
        "messages": messages,
    }
    if request.system:
        body["system"] = list(request.system)
    if tools:
        body["tools"] = tools
        if (container := waiting_container(settled_messages)) is not None:
            body["container"] = container
        if request.tool_choice is not None:
            body["tool_choice"] = request.tool_choice
    if (thinking := thinking_field(request, model)) is not None:
        body["thinking"] = thinking
    output: dict[str, object] = {}
    if request.effort in model.efforts and "effort" not in request.without:
        output["effort"] = request.effort
    if request.output_schema is not None and "output_schema" not in request.without:
        output["format"] = {"type": "json_schema", "schema": dict(request.output_schema)}
    if output:
        body["output_config"] = output
    if model.prompt_caching and "cache_control" not in request.without:
        body.update(cache_marks(request.system, messages))
    if request.compaction is not None:
        if "signed_compaction" in request.without:
            raise ModelError("unsupported", "The server writes no summaries.", status=400)
        body["compaction"] = {"type": "summarize", "instructions": request.compaction}
    elif "context_management" not in request.without and (edits := _edits(body, model)):
        body["context_management"] = {"edits": edits}
    body.update(request.extra_body)
    return body


def _tools(request: ModelRequest) -> list[Mapping[str, object]]:
    """Return the tools without features that the server rejected earlier."""
    tools: list[Mapping[str, object]] = list(request.tools)
    if "code_calls" in request.without:
        tools = [tool for tool in tools if tool.get("type") != CODE_CALLS]
    if "strict" in request.without:
        tools = [{n: value for n, value in tool.items() if n != "strict"} for tool in tools]
    return compiled_tools(with_callers(tools))


def betas_of(body: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of the betas that a body's fields and blocks need."""
    betas: list[str] = []
    if "context_management" in body:
        betas.append(CONTEXT_BETA)
    thinking = body.get("thinking")
    if isinstance(thinking, Mapping) and thinking.get("type") == "enabled" and "tools" in body:
        betas.append(INTERLEAVED_BETA)
    if "compaction" in body or _first_block_type(body) == "compaction":
        betas.append(COMPACTION_BETA)
    if _has_advisor(body):
        betas.append(ADVISOR_BETA)
    return tuple(betas)


def _has_advisor(body: Mapping[str, object]) -> bool:
    """Whether a body offers the endpoint's advisor, or its history contains advice."""
    tools = body.get("tools")
    tool_list = tools if isinstance(tools, list) else []
    if any(str(tool.get("type", "")).startswith("advisor_") for tool in tool_list):
        return True
    messages = body.get("messages")
    return any(
        block.get("type") == "advisor_tool_result"
        for message in (messages if isinstance(messages, list) else [])
        for block in message["content"]
    )


def _first_block_type(body: Mapping[str, object]) -> object:
    """Return the type of the very first block, which is the summary if there is one."""
    match body.get("messages"):
        case [{"content": [{"type": kind}, *_]}, *_]:
            return kind
        case _:
            return None


def _edits(body: Mapping[str, object], model: ModelCapabilities) -> list[dict[str, object]]:
    """Return the edits by which the endpoint reduces the context itself."""
    edits: list[dict[str, object]] = []
    thinking = body.get("thinking")
    is_thinking = isinstance(thinking, Mapping) and thinking["type"] != "disabled"
    if is_thinking and model.clears_thinking:
        # Keep all thinking: removing it would invalidate the cache after it with each prompt.
        edits.append({"type": THINKING_EDIT, "keep": "all"})
    if model.clears_tool_results:
        edits.append(_clearing(model))
    return edits


def _clearing(model: ModelCapabilities) -> dict[str, object]:
    """Return the edit that removes old tool results once the window fills up.

    Each removal invalidates the cache after it, so it must free a minimum of tokens.
    """
    return {
        "type": CLEARING,
        "trigger": {
            "type": "input_tokens",
            "value": int(model.context_window * CLEAR_FROM),
        },
        "keep": {"type": "tool_uses", "value": LATEST_TOOL_USES},
        "clear_at_least": {
            "type": "input_tokens",
            "value": int(model.context_window * CLEAR_AT_LEAST),
        },
    }


def _messages_to_send(request: ModelRequest, model: ModelCapabilities) -> Sequence[Message]:
    """Return the messages to send, without blocks and roles that the server rejects."""
    messages = without_foreign(request.messages)
    if not model.mid_conversation_system or "system_messages" in request.without:
        messages = without_system_role(messages)
    if "signed_compaction" in request.without:
        messages = without_signed_summary(messages)
    return drop_thinking(messages) if "kept_thinking" in request.without else messages


def _record(value: object) -> Mapping[str, object]:
    """Return a JSON object unchanged. Raises TypeError for anything else."""
    if isinstance(value, Mapping):
        return value
    raise TypeError(f"{type(value).__name__} in place of a JSON object")


def _index(data: Mapping[str, object]) -> int:
    """Return the index of an event's block. Raises KeyError, TypeError or ValueError."""
    value = data["index"]
    if isinstance(value, int | str | float):
        return int(value)
    raise TypeError(f"{type(value).__name__} in place of an index")


def _start(message: Mapping[str, object]) -> MessageStart:
    return MessageStart(
        str(message.get("id") or ""),
        str(message.get("model") or ""),
        read_usage(_record(message.get("usage") or {})),
    )


def _end(record: Mapping[str, object], usage: object) -> MessageDelta:
    reason, details = record.get("stop_reason"), record.get("stop_details")
    container = record.get("container")
    return MessageDelta(
        reason if isinstance(reason, str) else None,
        details if isinstance(details, Mapping) else None,
        _record(usage or {}),
        str(container["id"]) if isinstance(container, Mapping) and "id" in container else None,
    )


def read_event(name: str | None, data: Mapping[str, object]) -> ModelEvent | None:
    """Return the event of one stream record; None for pings and unknown kinds.

    Raises:
        ModelError: the record is an `error`, or lacks a required field.
    """
    kind = data.get("type") or name
    try:
        match kind:
            case "message_start":
                return _start(_record(data["message"]))
            case "content_block_start":
                return BlockStart(_index(data), dict(_record(data["content_block"])))
            case "content_block_delta":
                return BlockDelta(_index(data), dict(_record(data["delta"])))
            case "content_block_stop":
                return BlockStop(_index(data))
            case "message_delta":
                return _end(_record(data.get("delta") or {}), data.get("usage"))
            case "message_stop":
                return MessageStop()
            case "error":
                raise stream_error(data)
            case _:
                return None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            "malformed", f"The server sent an incomplete {kind} event.", phase="stream"
        ) from error


def read_message(message: Mapping[str, object]) -> Iterator[ModelEvent]:
    """Yield the events of a response that is one JSON message.

    Raises:
        ModelError: the JSON is not a message.
    """
    content = message.get("content")
    if not isinstance(content, list):
        raise ModelError("malformed", "The server answered with JSON that is not a message.")
    yield _start(message)
    for index, block in enumerate(content):
        yield BlockStart(index, dict(block))
        yield BlockStop(index)
    yield _end(message, message.get("usage"))
    yield MessageStop()


def stream_error(data: Mapping[str, object]) -> ModelError:
    """Return the error that an `error` record inside a stream reports."""
    error = data.get("error")
    record = error if isinstance(error, Mapping) else {}
    details = record.get("details")
    code = details.get("error_code") if isinstance(details, Mapping) else None
    request_id = data.get("request_id")
    return ModelError(
        str(code or record.get("type") or "api_error"),
        str(record.get("message") or "The server reported an error without a message."),
        request_id=str(request_id) if request_id else None,
        phase="stream",
    )


def read_usage(record: Mapping[str, object], earlier: Usage | None = None) -> Usage:
    """Return `earlier` updated with the record's counts; implausible counts are skipped.

    Records of one response are cumulative: a later number replaces the earlier one.
    """
    base = earlier or Usage()
    write_5m, write_1h = _cache_writes(record, base)
    details = record.get("output_tokens_details")
    thinking = _count(details if isinstance(details, Mapping) else {}, "thinking_tokens")
    server_uses = record.get("server_tool_use")
    searches = _count(
        server_uses if isinstance(server_uses, Mapping) else {}, "web_search_requests"
    )
    return Usage(
        input_tokens=_count_or(_count(record, "input_tokens"), base.input_tokens),
        output_tokens=_count_or(_count(record, "output_tokens"), base.output_tokens),
        cache_read_tokens=_count_or(
            _count(record, "cache_read_input_tokens"), base.cache_read_tokens
        ),
        cache_write_5m_tokens=write_5m,
        cache_write_1h_tokens=write_1h,
        thinking_tokens=_count_or(thinking, base.thinking_tokens),
        web_searches=_count_or(searches, base.web_searches),
    )


def read_asides(record: Mapping[str, object]) -> tuple[tuple[str, Usage], ...]:
    """Return (model, usage) of other work than the answer: an advisor's advice or a compaction.

    The answer's counts do not include it. An empty name means the model that answers.
    """
    iterations = record.get("iterations")
    return tuple(
        (str(each.get("model") or ""), read_usage(each))
        for each in (iterations if isinstance(iterations, list) else ())
        if isinstance(each, Mapping) and each.get("type") in _ASIDES
    )


_ASIDES: Final = frozenset({"advisor_message", "compaction"})


def _cache_writes(record: Mapping[str, object], base: Usage) -> tuple[int, int]:
    """Return the 5-minute and 1-hour writes; a total without its split counts as 5 minutes."""
    earlier = (base.cache_write_5m_tokens, base.cache_write_1h_tokens)
    split = record.get("cache_creation")
    if isinstance(split, Mapping):
        return (
            _count_or(_count(split, "ephemeral_5m_input_tokens"), earlier[0]),
            _count_or(_count(split, "ephemeral_1h_input_tokens"), earlier[1]),
        )
    total = _count(record, "cache_creation_input_tokens")
    if total is None or total == sum(earlier):
        return earlier
    return max(0, total - earlier[1]), min(earlier[1], total)


def _count(record: Mapping[str, object], name: str) -> int | None:
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
        return value
    return None


def _count_or(value: int | None, fallback: int) -> int:
    return fallback if value is None else value
