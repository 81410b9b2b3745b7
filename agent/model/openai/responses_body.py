"""Requests for OpenAI's Responses API: stateless, with its reasoning items in the input.

Next: `agent.model.openai.responses_reader`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final

from agent.messages import Block
from agent.model.client import ModelCapabilities, ModelRequest
from agent.model.dialects.enforced_schema import is_strict_schema, strict_schema
from agent.model.dialects.foreign_blocks import origin_of, shared_turns, signed_payload
from agent.model.dialects.function_names import short_name
from agent.model.dialects.provider import Provider

PATH: Final = "/responses"
ERROR_PREFIX: Final = "Error: "


def responses_path(_model: str) -> str:
    """Return the path of requests."""
    return PATH


def responses_body(
    request: ModelRequest, model: ModelCapabilities, provider: Provider
) -> dict[str, object]:
    """Return the JSON body, without `stream`."""
    body: dict[str, object] = {
        "model": request.model,
        "input": _input_items(request, provider.name),
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": min(request.max_tokens, model.max_output_tokens),
    }
    instructions = "\n\n".join(str(block.get("text", "")) for block in request.system)
    if instructions:
        body["instructions"] = instructions
    tools = [_tool(tool, request) for tool in request.tools if "input_schema" in tool]
    if tools:
        body["tools"] = tools
        body.update(_tool_choice(request.tool_choice))
    if model.adaptive_thinking:
        body["reasoning"] = _reasoning(request, model)
    else:
        del body["include"]
    if request.output_schema is not None and "output_schema" not in request.without:
        body["text"] = {"format": _format(request.output_schema)}
    if "cache_control" not in request.without:
        body["prompt_cache_key"] = _cache_key(request)
    return body


def _format(schema: Mapping[str, object]) -> dict[str, object]:
    strict = strict_schema(schema)
    is_strict = strict is not None
    return {
        "type": "json_schema",
        "name": "answer",
        "schema": strict if strict is not None else dict(schema),
        "strict": is_strict,
    }


def _reasoning(request: ModelRequest, model: ModelCapabilities) -> dict[str, object]:
    fields: dict[str, object] = {}
    if not request.thinking:
        fields["effort"] = "low"
    elif "thinking" not in request.without:
        fields["summary"] = "auto"
    if request.effort in model.efforts and "effort" not in request.without:
        fields["effort"] = request.effort
    return fields


def _cache_key(request: ModelRequest) -> str:
    """Return a key that the requests of one conversation share."""
    names = [str(tool.get("name")) for tool in request.tools]
    text = json.dumps([request.system, names], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _tool(tool: Mapping[str, object], request: ModelRequest) -> dict[str, object]:
    schema = tool["input_schema"]
    parameters = dict(schema) if isinstance(schema, Mapping) else {"type": "object"}
    parameters.setdefault("properties", {})
    is_strict = "strict" not in request.without and is_strict_schema(parameters)
    return {
        "type": "function",
        "name": short_name(str(tool.get("name"))),
        "description": str(tool.get("description") or ""),
        "parameters": parameters,
        "strict": is_strict,
    }


def _tool_choice(choice: Mapping[str, object] | None) -> dict[str, object]:
    fields: dict[str, object] = {"tool_choice": "auto", "parallel_tool_calls": True}
    if choice is None:
        return fields
    match choice.get("type"):
        case "any":
            fields["tool_choice"] = "required"
        case "none":
            fields["tool_choice"] = "none"
        case "tool":
            name = short_name(str(choice.get("name")))
            fields["tool_choice"] = {"type": "function", "name": name}
    if choice.get("disable_parallel_tool_use"):
        fields["parallel_tool_calls"] = False
    return fields


def _input_items(request: ModelRequest, provider: str) -> list[dict[str, object]]:
    items: list[dict[str, object]] = []
    for role, blocks in shared_turns(request, provider):
        if role == "assistant":
            items += _answer_items(blocks, provider)
        elif role == "system":
            text = "\n\n".join(str(block.get("text", "")) for block in blocks)
            items.append({"role": "developer", "content": text})
        else:
            items += _user_items(blocks)
    return items


def _answer_items(blocks: Sequence[Block], provider: str) -> list[dict[str, object]]:
    items: list[dict[str, object]] = []
    for block in blocks:
        match block.get("type"):
            case "thinking":
                payload = signed_payload(block, provider) or {}
                if payload.get("encrypted_content"):
                    items.append(_reasoning_item(block, payload))
            case "text":
                phase = origin_of(block, provider).get("phase")
                extra = {"phase": phase} if phase else {}
                message = {"role": "assistant", "content": block["text"]}
                items.append({"type": "message", **message, **extra})
            case "tool_use":
                arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
                items.append(
                    {
                        "type": "function_call",
                        "call_id": block["id"],
                        "name": short_name(str(block["name"])),
                        "arguments": arguments,
                    }
                )
    # The API rejects reasoning that nothing follows, as after an interruption.
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _reasoning_item(block: Block, payload: Mapping[str, object]) -> dict[str, object]:
    text = str(block.get("thinking") or "")
    return {
        "type": "reasoning",
        "id": payload.get("id", ""),
        "summary": [{"type": "summary_text", "text": text}] if text else [],
        "encrypted_content": payload["encrypted_content"],
    }


def _user_items(blocks: Sequence[Block]) -> list[dict[str, object]]:
    items: list[dict[str, object]] = []
    content: list[dict[str, object]] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": block["tool_use_id"],
                    "output": _output(block),
                }
            )
        else:
            content += _parts(block)
    if content:
        items.append({"role": "user", "content": content})
    return items


def _output(result: Block) -> str | list[dict[str, object]]:
    content = result.get("content")
    prefix = ERROR_PREFIX if result.get("is_error") else ""
    if isinstance(content, str):
        return prefix + content
    blocks = content if isinstance(content, list) else []
    if all(block.get("type") == "text" for block in blocks):
        return prefix + "\n".join(str(block.get("text", "")) for block in blocks)
    return [part for block in blocks for part in _parts(block)]


def _parts(block: Block) -> list[dict[str, object]]:
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    match block.get("type"):
        case "text":
            return [{"type": "input_text", "text": block["text"]}]
        case "image":
            return [{"type": "input_image", "detail": "auto", "image_url": data_url(source)}]
        case "document" if source.get("type") == "base64":
            name = str(block.get("title") or "document.pdf")
            return [{"type": "input_file", "filename": name, "file_data": data_url(source)}]
        case "document":
            return [{"type": "input_text", "text": str(source.get("data") or "")}]
        case _:
            return []


def data_url(source: Mapping[str, object]) -> str:
    """Return the source of an image or a document as one URL."""
    if source.get("type") == "url":
        return str(source.get("url"))
    return f"data:{source.get('media_type')};base64,{source.get('data')}"
