"""Requests for servers of Chat Completions, with each one's deviations.

Next: `agent.model.openai.chat_reader`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from agent.messages import Block
from agent.model.client import ModelCapabilities, ModelRequest
from agent.model.dialects.enforced_schema import strict_schema
from agent.model.dialects.foreign_blocks import shared_turns, signed_payload
from agent.model.dialects.function_names import short_id, short_name
from agent.model.dialects.provider import Habits, Provider
from agent.model.openai.responses_body import ERROR_PREFIX, data_url

PATH: Final = "/chat/completions"
IMAGES_FOLLOW: Final = "The images of the results above:"


def chat_path(_model: str) -> str:
    """Return the path of requests."""
    return PATH


def chat_body(
    request: ModelRequest, model: ModelCapabilities, provider: Provider
) -> dict[str, object]:
    """Return the JSON body, without `stream`."""
    habits = provider.habits
    limit = "max_completion_tokens" if habits.max_completion_tokens else "max_tokens"
    body: dict[str, object] = {
        "model": request.model,
        "messages": _messages(request, provider),
        limit: min(request.max_tokens, model.max_output_tokens),
        "stream_options": {"include_usage": True},
    }
    tools = [_tool(tool) for tool in request.tools if "input_schema" in tool]
    if tools:
        body["tools"] = tools
        body.update(_tool_choice(request.tool_choice))
    if request.effort in model.efforts and "effort" not in request.without:
        body["reasoning_effort"] = request.effort
    if request.output_schema is not None and "output_schema" not in request.without:
        body["response_format"] = _format(request.output_schema)
    if "stream_options" in request.without:
        del body["stream_options"]
    return body


def _format(schema: Mapping[str, object]) -> dict[str, object]:
    strict = strict_schema(schema)
    json_schema: dict[str, object] = {"name": "answer", "schema": strict or dict(schema)}
    if strict is not None:
        json_schema["strict"] = True
    return {"type": "json_schema", "json_schema": json_schema}


def _tool(tool: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "function",
        "function": {
            "name": short_name(str(tool.get("name"))),
            "description": str(tool.get("description") or ""),
            "parameters": tool["input_schema"],
        },
    }


def _tool_choice(choice: Mapping[str, object] | None) -> dict[str, object]:
    if choice is None:
        return {}
    fields: dict[str, object] = {}
    match choice.get("type"):
        case "any":
            fields["tool_choice"] = "required"
        case "none":
            fields["tool_choice"] = "none"
        case "tool":
            name = short_name(str(choice.get("name")))
            fields["tool_choice"] = {"type": "function", "function": {"name": name}}
    if choice.get("disable_parallel_tool_use"):
        fields["parallel_tool_calls"] = False
    return fields


def _messages(request: ModelRequest, provider: Provider) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    system = "\n\n".join(str(block.get("text", "")) for block in request.system)
    if system:
        messages.append({"role": "system", "content": system})
    for role, blocks in shared_turns(request, provider.name):
        if role == "assistant":
            answer = _answer(blocks, provider)
            if answer is not None:
                messages.append(answer)
        elif role == "system":
            # Most servers accept a system message only as the first one.
            text = "\n\n".join(str(block.get("text", "")) for block in blocks)
            messages.append({"role": "user", "content": text})
        else:
            messages += _user_messages(blocks, provider.habits)
    return messages


def _answer(blocks: Sequence[Block], provider: Provider) -> dict[str, object] | None:
    habits = provider.habits
    text = "".join(str(block["text"]) for block in blocks if block.get("type") == "text")
    calls = [
        {
            "id": _id(str(block["id"]), habits),
            "type": "function",
            "function": {
                "name": short_name(str(block["name"])),
                "arguments": json.dumps(block.get("input") or {}, ensure_ascii=False),
            },
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    if not text and not calls:
        return None
    answer: dict[str, object] = {"role": "assistant", "content": text or None}
    if calls:
        answer["tool_calls"] = calls
    if habits.reasoning_back == "always" or (habits.reasoning_back == "calls" and calls):
        answer.update(_reasoning(blocks, provider))
    return answer


def _reasoning(blocks: Sequence[Block], provider: Provider) -> dict[str, object]:
    thinking = [block for block in blocks if block.get("type") == "thinking"]
    if not thinking:
        return {}
    if provider.habits.reasoning_details:
        details: list[object] = []
        for block in thinking:
            payload = signed_payload(block, provider.name) or {}
            entries = payload.get("reasoning_details")
            details += entries if isinstance(entries, list) else []
        return {"reasoning_details": details} if details else {}
    return {"reasoning_content": "\n\n".join(str(b.get("thinking", "")) for b in thinking)}


def _user_messages(blocks: Sequence[Block], habits: Habits) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = []
    all_images: list[dict[str, object]] = []
    content: list[dict[str, object]] = []
    for block in blocks:
        if block.get("type") != "tool_result":
            content += _parts(block)
            continue
        text, images = _result(block)
        call_id = _id(str(block["tool_use_id"]), habits)
        messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
        all_images += images
    if all_images:
        # Few servers accept an image in the result of a call.
        content = [{"type": "text", "text": IMAGES_FOLLOW}, *all_images, *content]
    if all(part["type"] == "text" for part in content):
        text = "\n\n".join(str(part["text"]) for part in content)
        return [*messages, {"role": "user", "content": text}] if text else messages
    return [*messages, {"role": "user", "content": content}]


def _result(block: Block) -> tuple[str, list[dict[str, object]]]:
    """Return a result's text and its images."""
    content = block.get("content")
    prefix = ERROR_PREFIX if block.get("is_error") else ""
    if isinstance(content, str):
        return prefix + content, []
    parts = [part for each in content or () for part in _parts(each)]
    texts = [str(part["text"]) for part in parts if part["type"] == "text"]
    images = [part for part in parts if part["type"] != "text"]
    return prefix + ("\n".join(texts) or "(an image, see below)"), images


def _parts(block: Block) -> list[dict[str, object]]:
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    match block.get("type"):
        case "text":
            return [{"type": "text", "text": block["text"]}]
        case "image":
            return [{"type": "image_url", "image_url": {"url": data_url(source)}}]
        case "document" if source.get("type") == "text":
            return [{"type": "text", "text": str(source.get("data") or "")}]
        case "document":
            note = "(A document that this model's server cannot read was left out.)"
            return [{"type": "text", "text": note}]
        case _:
            return []


def _id(call_id: str, habits: Habits) -> str:
    return short_id(call_id) if habits.short_call_ids else call_id
