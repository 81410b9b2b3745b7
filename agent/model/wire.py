"""Requests as the Messages API takes them and its events as ours: JSON in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.history import drop_thinking, to_wire
from agent.messages import Message
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
from agent.model.usage import read_usage


def request_body(request: ModelRequest, model: ModelCapabilities) -> dict[str, Any]:
    """Return the JSON body, without `stream`; leaves out what the model does not take."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": min(request.max_tokens, model.max_output_tokens),
        "messages": to_wire(_kept(request)),
    }
    if request.system:
        body["system"] = list(request.system)
    if request.tools:
        body["tools"] = list(request.tools)
        if request.tool_choice is not None:
            body["tool_choice"] = request.tool_choice
    if "thinking" in request.without:
        pass
    elif model.adaptive_thinking and request.thinking:
        # Without summaries the text between tool calls stays hidden, and the screen silent.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    elif model.adaptive_thinking and model.can_disable_thinking:
        body["thinking"] = {"type": "disabled"}
    if request.effort in model.efforts and "effort" not in request.without:
        body["output_config"] = {"effort": request.effort}
    if model.prompt_caching and "cache_control" not in request.without:
        # One mark at the top level moves along with the last block.
        body["cache_control"] = {"type": "ephemeral"}
    body.update(request.extra_body)
    return body


def _kept(request: ModelRequest) -> Sequence[Message]:
    """Return the messages to send; where earlier thinking is rejected, without any of it."""
    if "kept_thinking" not in request.without:
        return request.messages
    return drop_thinking(request.messages)


def read_event(name: str | None, data: Mapping[str, Any]) -> ModelEvent | None:
    """Return one stream record as an event; None for pings and for kinds nobody knows yet.

    Raises:
        ModelError: for an `error` record, and for one that lacks what its kind must have.
    """
    kind = data.get("type") or name
    try:
        match kind:
            case "message_start":
                message = data["message"]
                return MessageStart(
                    str(message.get("id") or ""),
                    str(message.get("model") or ""),
                    read_usage(message.get("usage") or {}),
                )
            case "content_block_start":
                return BlockStart(int(data["index"]), dict(data["content_block"]))
            case "content_block_delta":
                return BlockDelta(int(data["index"]), dict(data["delta"]))
            case "content_block_stop":
                return BlockStop(int(data["index"]))
            case "message_delta":
                delta = data.get("delta") or {}
                return MessageDelta(
                    delta.get("stop_reason"), delta.get("stop_details"), data.get("usage") or {}
                )
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


def read_message(message: Mapping[str, Any]) -> Iterator[ModelEvent]:
    """Yield the events of an answer that came as one JSON message.

    Raises:
        ModelError: the JSON is no message.
    """
    content = message.get("content")
    if not isinstance(content, list):
        raise ModelError("malformed", "The server answered with JSON that is no message.")
    yield MessageStart(
        str(message.get("id") or ""),
        str(message.get("model") or ""),
        read_usage(message.get("usage") or {}),
    )
    for index, block in enumerate(content):
        yield BlockStart(index, dict(block))
        yield BlockStop(index)
    yield MessageDelta(
        message.get("stop_reason"), message.get("stop_details"), message.get("usage") or {}
    )
    yield MessageStop()


def without_surrogates(value: Any) -> Any:
    """Return the JSON value with pairs of surrogates joined and lone ones replaced by U+FFFD.

    Lone ones come from file names that are not UTF-8 and from broken escapes; no request may
    hold them. The same value always gives the same result, so prefixes stay stable.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(each) for each in value]
    return value


def stream_error(data: Mapping[str, Any]) -> ModelError:
    """Return the error that an `error` record inside a stream stands for."""
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
