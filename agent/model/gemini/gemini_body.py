"""Requests for Google's `generateContent`, with thought signatures on the parts they belong to.

Next: `agent.model.gemini.gemini_reader`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from agent.messages import Block
from agent.model.client import Effort, ModelCapabilities, ModelRequest
from agent.model.dialects.foreign_blocks import origin_of, shared_turns
from agent.model.dialects.function_names import short_name
from agent.model.dialects.provider import Provider

NO_SIGNATURE: Final = "skip_thought_signature_validator"
"""Documented placeholder for calls that this model did not make."""

_LEVELS: Final[Mapping[Effort, str]] = {
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "xhigh": "XHIGH",
    "max": "XHIGH",
}
_BUDGETS: Final[Mapping[Effort, int]] = {"low": 2_048, "medium": 8_192}


def gemini_path(model: str) -> str:
    """Return the path of requests for a model."""
    return f"/models/{quote(model, safe='')}:streamGenerateContent?alt=sse"


def gemini_body(
    request: ModelRequest, model: ModelCapabilities, provider: Provider
) -> dict[str, object]:
    """Return the JSON body, without a temperature: the newer models need their default."""
    generation: dict[str, object] = {
        "maxOutputTokens": min(request.max_tokens, model.max_output_tokens)
    }
    body: dict[str, object] = {
        "contents": _contents(request, provider.name),
        "generationConfig": generation,
    }
    system = [{"text": str(block.get("text", ""))} for block in request.system]
    if system:
        body["systemInstruction"] = {"parts": system}
    tools = [_declaration(tool) for tool in request.tools if "input_schema" in tool]
    if tools:
        body["tools"] = [{"functionDeclarations": tools}]
        body["toolConfig"] = {"functionCallingConfig": _calling_config(request.tool_choice)}
    if model.can_think and "thinking" not in request.without:
        generation["thinkingConfig"] = _thinking(request, model)
    if request.output_schema is not None and "output_schema" not in request.without:
        generation["responseMimeType"] = "application/json"
        generation["responseJsonSchema"] = dict(request.output_schema)
    return body


def _declaration(tool: Mapping[str, object]) -> dict[str, object]:
    return {
        "name": short_name(str(tool.get("name"))),
        "description": str(tool.get("description") or ""),
        "parametersJsonSchema": tool["input_schema"],
    }


def _calling_config(choice: Mapping[str, object] | None) -> dict[str, object]:
    match (choice or {}).get("type"):
        case "any":
            return {"mode": "ANY"}
        case "none":
            return {"mode": "NONE"}
        case "tool":
            name = short_name(str((choice or {}).get("name")))
            return {"mode": "ANY", "allowedFunctionNames": [name]}
        case _:
            return {"mode": "AUTO"}


def _thinking(request: ModelRequest, model: ModelCapabilities) -> dict[str, object]:
    visible: dict[str, object] = {"includeThoughts": request.thinking}
    has_effort = request.effort in model.efforts and "effort" not in request.without
    effort = request.effort if has_effort else None
    if re.search(r"gemini-2\.", request.model):
        if not request.thinking:
            return {"thinkingBudget": 0} if model.can_disable_thinking else {}
        return {**visible, "thinkingBudget": _BUDGETS.get(effort, -1) if effort else -1}
    if not request.thinking:
        return {"thinkingLevel": "LOW"}
    return {**visible, "thinkingLevel": _LEVELS[effort]} if effort else visible


def _contents(request: ModelRequest, provider: str) -> list[dict[str, object]]:
    contents: list[dict[str, object]] = []
    names: dict[str, str] = {}
    ids: dict[str, object] = {}
    for role, blocks in shared_turns(request, provider):
        if role == "assistant":
            for block in blocks:
                if block.get("type") == "tool_use":
                    names[str(block["id"])] = short_name(str(block["name"]))
                    ids[str(block["id"])] = _wire_id(block, provider)
            parts = _answer_parts(blocks, provider)
        else:
            parts = _user_parts(blocks, names, ids)
        place = "model" if role == "assistant" else "user"
        if not parts:
            continue
        if contents and contents[-1]["role"] == place:
            last_parts = contents[-1]["parts"]
            assert isinstance(last_parts, list)
            last_parts.extend(parts)
        else:
            contents.append({"role": place, "parts": parts})
    return contents


def _wire_id(block: Block, provider: str) -> object:
    """Return the server's id of a call; None if it gave none."""
    mark = origin_of(block, provider)
    return mark.get("call_id") if mark else block["id"]


def _answer_parts(blocks: Sequence[Block], provider: str) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = []
    is_first_call = True
    for block in blocks:
        own = origin_of(block, provider)
        signature = own.get("signature")
        extra = {"thoughtSignature": signature} if signature else {}
        if block.get("type") == "text":
            parts.append({"text": block["text"], **extra})
        elif block.get("type") == "tool_use":
            if is_first_call and not extra:
                extra = {"thoughtSignature": NO_SIGNATURE}
            is_first_call = False
            call: dict[str, object] = {
                "name": short_name(str(block["name"])),
                "args": block.get("input") or {},
            }
            call_id = _wire_id(block, provider)
            if call_id is not None:
                call["id"] = call_id
            parts.append({"functionCall": call, **extra})
        elif block.get("type") == "thinking" and extra:
            parts.append({"text": "", **extra})
    return parts


def _user_parts(
    blocks: Sequence[Block], names: Mapping[str, str], ids: Mapping[str, object]
) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = []
    media: list[dict[str, object]] = []
    for block in blocks:
        if block.get("type") != "tool_result":
            media += _parts(block)
            continue
        call_id = str(block["tool_use_id"])
        content = block.get("content")
        inner_blocks = content if isinstance(content, list) else []
        inner = [part for each in inner_blocks for part in _parts(each)]
        text = content if isinstance(content, str) else _join_parts(inner)
        response: dict[str, object] = {
            "name": names.get(call_id, "unknown"),
            "response": {"error" if block.get("is_error") else "output": text},
        }
        if ids.get(call_id) is not None:
            response["id"] = ids[call_id]
        parts.append({"functionResponse": response})
        media[:0] = [part for part in inner if "text" not in part]
    return parts + media


def _join_parts(parts: Sequence[Mapping[str, object]]) -> str:
    texts = [str(part["text"]) for part in parts if "text" in part]
    return "\n".join(texts) or "(see the attachment)"


def _parts(block: Block) -> list[dict[str, object]]:
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    match block.get("type"):
        case "text":
            return [{"text": block["text"]}]
        case "image" | "document" if source.get("type") == "base64":
            data = {"mimeType": source.get("media_type"), "data": source.get("data")}
            return [{"inlineData": data}]
        case "image" | "document" if source.get("type") == "url":
            return [{"fileData": {"fileUri": source.get("url")}}]
        case "document":
            return [{"text": str(source.get("data") or "")}]
        case _:
            return []
