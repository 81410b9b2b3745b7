"""Converts items of the Responses API to messages of the program and back, losslessly."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

from agent.events import Usage
from agent.library.base.raw_items import DictItem, InputItem, RawItem, item_type
from agent.library.base.run_usage import InputTokensDetails, OutputTokensDetails, RunUsage
from agent.messages import Block, Message, Role, text_block, tool_result_block

BLOCK_CALL = "provider_block_call"
"""Type of items that contain a block unchanged: calls that the endpoint runs itself."""


def messages_of(items: Sequence[InputItem]) -> tuple[Message, ...]:
    """Return the messages of a conversation; adjacent items of one role form one message."""
    turns: list[tuple[Role, list[Block]]] = []
    for item in items:
        role, blocks = _blocks(item)
        if not blocks:
            continue
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    return tuple(
        Message(role, tuple(_results_first(blocks)), "person" if role == "user" else "model")
        for role, blocks in turns
    )


def _results_first(blocks: list[Block]) -> list[Block]:
    """Return the blocks with results first, as endpoints require."""
    return sorted(blocks, key=lambda block: block.get("type") != "tool_result")


def _blocks(item: InputItem) -> tuple[Role, list[Block]]:
    match item_type(item):
        case "function_call":
            return "assistant", [
                {
                    "type": "tool_use",
                    "id": str(item["call_id"]),
                    "name": str(item["name"]),
                    "input": _arguments(item.get("arguments")),
                }
            ]
        case "function_call_output":
            return "user", [tool_result_block(str(item["call_id"]), _output(item.get("output")))]
        case "reasoning":
            return "assistant", _thinking(item)
        case "message":
            return _message(item)
        case kind if kind == BLOCK_CALL:
            return "assistant", [dict(item["block"])]
        case _:
            return "user", []


def _message(item: InputItem) -> tuple[Role, list[Block]]:
    role, content = item.get("role"), item.get("content")
    blocks = [text_block(content)] if isinstance(content, str) else _parts(content or [])
    blocks = [block for block in blocks if block.get("text") != ""]
    if role == "assistant":
        return "assistant", blocks
    if role in ("system", "developer"):
        note = "".join(str(block.get("text", "")) for block in blocks)
        return "user", [text_block(f"<system-note>\n{note}\n</system-note>")]
    return "user", blocks


def _parts(parts: Sequence[RawItem]) -> list[Block]:
    blocks: list[Block] = []
    for part in parts:
        match part.get("type"):
            case "input_text" | "output_text" | "text":
                blocks.append(text_block(str(part.get("text", ""))))
            case "refusal":
                blocks.append(text_block(str(part.get("refusal", ""))))
            case "input_image":
                blocks.append(_image(str(part.get("image_url", ""))))
            case "input_file":
                blocks.append(text_block(f"[file {part.get('filename') or ''}]"))
    return blocks


def _image(url: str) -> Block:
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        media = head.removeprefix("data:").removesuffix(";base64")
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": media, "data": data},
        }
    return {"type": "image", "source": {"type": "url", "url": url}}


def _output(output: RawItem) -> str | list[Block]:
    return _parts(output) if isinstance(output, list) else str(output)


def _arguments(text: RawItem) -> dict[str, RawItem]:
    try:
        data = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _thinking(item: InputItem) -> list[Block]:
    """Return the block stored in the item; empty for another endpoint's reasoning."""
    try:
        block = json.loads(item.get("encrypted_content") or "")
    except (ValueError, RecursionError):
        return []
    return [block] if isinstance(block, dict) and "type" in block else []


def items_of(message: Message, invalid: dict[str, str]) -> list[RawItem]:
    """Return a model's message as items; `invalid` maps call ids to arguments that are not JSON."""
    items: list[RawItem] = []
    for block in message.content:
        match block.get("type"):
            case "text":
                items.append(text_item(str(block.get("text", ""))))
            case "tool_use":
                call_id = str(block["id"])
                arguments = invalid.get(call_id) or json.dumps(
                    block.get("input") or {}, separators=(",", ":"), ensure_ascii=False
                )
                items.append(
                    DictItem(
                        type="function_call",
                        id=f"fc_{call_id}",
                        call_id=call_id,
                        name=str(block["name"]),
                        arguments=arguments,
                        status="completed",
                    )
                )
            case "thinking" | "redacted_thinking":
                items.append(_reasoning(block))
            case _:
                items.append(DictItem(type=BLOCK_CALL, block=dict(block)))
    return items


def input_items(message: Message) -> list[InputItem]:
    """Return a message of either role as input items."""
    if message.role == "assistant":
        return [dict(item) for item in items_of(message, {})]
    items: list[InputItem] = []
    parts: list[InputItem] = []
    for block in message.content:
        if block.get("type") == "tool_result":
            call_id, content = str(block["tool_use_id"]), block.get("content")
            output = content if isinstance(content, str) else _input_parts(content or [])
            items.append({"type": "function_call_output", "call_id": call_id, "output": output})
        else:
            parts.extend(_input_parts([block]))
    if [part["type"] for part in parts] == ["input_text"]:
        items.append({"role": "user", "content": parts[0]["text"]})
    elif parts:
        items.append({"role": "user", "content": parts})
    return items


def _input_parts(blocks: Sequence[Block]) -> list[InputItem]:
    parts: list[InputItem] = []
    for block in blocks:
        match block:
            case {"type": "text", "text": text}:
                parts.append({"type": "input_text", "text": text})
            case {"type": "image", "source": {"media_type": media, "data": data}}:
                url = f"data:{media};base64,{data}"
                parts.append({"type": "input_image", "image_url": url})
            case {"type": "image", "source": {"type": "url", "url": url}}:
                parts.append({"type": "input_image", "image_url": url})
            case {"type": kind}:
                parts.append({"type": "input_text", "text": f"[{kind}]"})
    return parts


def text_item(text: str) -> DictItem:
    """Return a message item with a text of the model."""
    return _message_item(DictItem(type="output_text", text=text, annotations=[], logprobs=[]))


def refusal_item(text: str) -> DictItem:
    """Return a message item with a refusal."""
    return _message_item(DictItem(type="refusal", refusal=text))


def _message_item(part: DictItem) -> DictItem:
    return DictItem(
        type="message",
        id=f"msg_{uuid.uuid4().hex}",
        role="assistant",
        status="completed",
        content=[part],
    )


def _reasoning(block: Block) -> DictItem:
    text = str(block.get("thinking", ""))
    return DictItem(
        type="reasoning",
        id=f"rs_{uuid.uuid4().hex}",
        summary=[DictItem(type="summary_text", text=text)] if text else [],
        encrypted_content=json.dumps(block),
    )


def run_usage(usage: Usage) -> RunUsage:
    """Return the usage of one request; its input tokens include cached ones."""
    cache_writes = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
    return RunUsage(
        requests=1,
        input_tokens=usage.prompt_tokens,
        input_tokens_details=InputTokensDetails(usage.cache_read_tokens, cache_writes),
        output_tokens=usage.output_tokens,
        output_tokens_details=OutputTokensDetails(usage.thinking_tokens),
        total_tokens=usage.prompt_tokens + usage.output_tokens,
    )
