"""Rejects what the real endpoint rejects, so that tests detect an invalid history."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from agent.model.dialects.json_members import record
from agent.model.scripted.prefix import PrefixChain, as_blocks, is_signed_summary, sign_thinking
from agent.model.scripted.scenario import ModelInfo
from agent.model.scripted.validate_served import message_blocks, served_problem
from agent.model.scripted.validate_strict import strict_problem

KNOWN_FIELDS: Final = frozenset(
    {
        *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking"),
        *("output_config", "metadata", "stream", "stop_sequences", "temperature", "top_p", "top_k"),
        *("cache_control", "service_tier", "speed", "inference_geo", "diagnostics", "container"),
        *("mcp_servers", "context_management", "compaction", "fallbacks", "thread"),
    }
)

MAX_CACHE_MARKS: Final = 4


class RequestProblem(Struct, frozen=True):
    """Why a request is rejected."""

    message: str
    status: int = 400
    error_type: str = "invalid_request_error"


def find_problem(
    body: Mapping[str, object],
    chain: PrefixChain,
    model: ModelInfo,
    *,
    bound_thinking: bool,
    may_end_with_assistant: bool,
) -> RequestProblem | None:
    """Return the first reason to reject the request; None if the endpoint would accept it."""
    message = (
        _fields(body, model)
        or _tools(body)
        or _roles(body, model, may_end_with_assistant)
        or _blocks(body)
        or served_problem(body, model)
        or strict_problem(as_blocks(body.get("tools")))
        or _pairs(_merge_messages(as_blocks(body["messages"])))
        or (_thinking(chain) if bound_thinking else None)
        or _size(body, chain, model)
    )
    return RequestProblem(message) if message else None


def _fields(body: Mapping[str, object], model: ModelInfo) -> str | None:
    for name in body:
        if name not in KNOWN_FIELDS:
            return f"{name}: Extra inputs are not permitted"
    for name in ("model", "messages", "max_tokens"):
        if name not in body:
            return f"{name}: Field required"
    return (
        _max_tokens(body["max_tokens"], model)
        or (None if model.sampling else _without_sampling(body))
        or _server_context(body, model)
        or _thinking_field(body, model)
        or _effort(body, model)
        or _marks(body)
    )


def _max_tokens(max_tokens: object, model: ModelInfo) -> str | None:
    if not isinstance(max_tokens, int) or max_tokens < 0:
        return "max_tokens: must be a non-negative integer"
    if max_tokens > model.max_tokens:
        return (
            f"max_tokens: {max_tokens} > {model.max_tokens}, which is the maximum allowed number "
            f"of output tokens for {model.id}"
        )
    return None


def _without_sampling(body: Mapping[str, object]) -> str | None:
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            return f"`{name}` is not supported by this model."
    if record(body, "tool_choice").get("type") in ("any", "tool"):
        return "tool_choice: forcing tool use is not supported by this model."
    return None


def _server_context(body: Mapping[str, object], model: ModelInfo) -> str | None:
    """Check the fields and blocks by which the endpoint reduces the context itself."""
    if (problem := _context_edits(body, model)) is not None:
        return problem
    if "compaction" in body and not model.signed_compaction:
        return "compaction: Extra inputs are not permitted"
    if "compaction" in body and "context_management" in body:
        return "compaction: cannot be combined with context_management"
    for index, block in enumerate(message_blocks(body)):
        if block.get("type") != "compaction" or block.get("content") is None:
            continue
        if index:
            return "compaction: the block is not the first block of the conversation"
        if not model.signed_compaction:
            return "messages.0.content.0: unknown block type `compaction`"
        if not is_signed_summary(block):
            return "compaction: the `signature` does not verify"
    return None


def _context_edits(body: Mapping[str, object], model: ModelInfo) -> str | None:
    edits = record(body, "context_management").get("edits")
    kinds = [str(edit.get("type")) for edit in edits] if isinstance(edits, list) else []
    is_supported = {
        "clear_thinking_20251015": model.clears_thinking,
        "clear_tool_uses_20250919": model.clears_tool_results,
    }
    if not all(is_supported.get(kind) for kind in kinds):
        return "context_management: Extra inputs are not permitted"
    if "clear_thinking_20251015" in kinds[1:]:
        return "context_management: `clear_thinking_20251015` must be the first edit"
    if "clear_thinking_20251015" in kinds and "type" not in record(body, "thinking"):
        return "context_management: `clear_thinking_20251015` requires thinking"
    return None


def _thinking_field(body: Mapping[str, object], model: ModelInfo) -> str | None:
    kind = record(body, "thinking").get("type")
    if kind == "adaptive" and not model.adaptive_thinking:
        return "adaptive thinking is not supported on this model"
    if kind == "enabled" and model.adaptive_thinking:
        return (
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".'
        )
    if kind == "disabled" and not model.can_disable_thinking:
        return '"thinking.type.disabled" is not supported for this model.'
    return None


def _effort(body: Mapping[str, object], model: ModelInfo) -> str | None:
    effort = record(body, "output_config").get("effort")
    if effort is not None and effort not in model.efforts:
        return f"output_config.effort: {effort!r} is not supported by this model."
    return None


def _marks(body: Mapping[str, object]) -> str | None:
    blocks = as_blocks(body.get("tools")) + as_blocks(body.get("system")) + message_blocks(body)
    total = sum(bool(block.get("cache_control")) for block in blocks)
    total += bool(body.get("cache_control"))
    if total > MAX_CACHE_MARKS:
        limit = f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided"
        return f"{limit}. Found {total}."
    return None


def _tools(body: Mapping[str, object]) -> str | None:
    names: set[str] = set()
    for index, tool in enumerate(as_blocks(body.get("tools"))):
        name = str(tool.get("name", ""))
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name):
            return (
                f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
        if name in names:
            return "tools: Tool names must be unique."
        names.add(name)
        schema = tool.get("input_schema")
        if "type" not in tool and (
            not isinstance(schema, Mapping) or schema.get("type") != "object"
        ):
            return f"tools.{index}.custom.input_schema.type: Input should be 'object'"
    return None


def _roles(
    body: Mapping[str, object], model: ModelInfo, may_end_with_assistant: bool
) -> str | None:
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ("user", "assistant", "system"):
            return f"messages.{index}.role: Input should be 'user' or 'assistant'"
        if role == "system" and not model.system_messages:
            return f"messages.{index}.role: 'system' is not supported by this model"
        extra = set(message) - {"role", "content", "clear_at", "output_config"}
        if extra:
            return f"messages.{index}.{min(extra)}: Extra inputs are not permitted"
    if messages[0]["role"] != "user":
        return 'messages: first message must use the "user" role'
    if messages[-1]["role"] == "assistant" and not may_end_with_assistant:
        return (
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message."
        )
    return None


def _blocks(body: Mapping[str, object]) -> str | None:
    for index, block in enumerate(as_blocks(body.get("system"))):
        if not str(block.get("text", "")).strip():
            return f"system: text content blocks must be non-empty (block {index})"
    for index, message in enumerate(as_blocks(body["messages"])):
        content = message.get("content")
        blocks = as_blocks(content)
        if not blocks or (isinstance(content, list) and len(blocks) != len(content)):
            return f"messages.{index}: all messages must have non-empty content"
        for number, block in enumerate(blocks):
            problem = _block(block, str(message["role"]))
            if problem:
                return f"messages.{index}.content.{number}: {problem}"
    return None


_ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "user": frozenset(
        {
            "text",
            "image",
            "document",
            "tool_result",
            "search_result",
            "container_upload",
            "compaction",
        }
    ),
    "system": frozenset({"text", "tool_addition", "tool_removal"}),
}


def _block(block: Mapping[str, object], role: str) -> str | None:
    kind = block.get("type")
    kinds = _ALLOWED.get(role)
    if kinds is not None and kind not in kinds:
        return f"`{kind}` blocks are not permitted in `{role}` messages"
    if role == "assistant" and kind in ("tool_result", "image", "document"):
        return f"`{kind}` blocks are not permitted in `assistant` messages"
    if kind == "text":
        return _text(block)
    if kind == "tool_use":
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", str(block.get("id", ""))):
            return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        if not isinstance(block.get("input"), Mapping):
            return "tool_use.input: Input should be a valid dictionary"
        return None
    if kind == "tool_result":
        return _tool_result(block)
    if kind == "thinking" and not block.get("signature"):
        return "thinking.signature: Field required"
    return None


def _text(block: Mapping[str, object]) -> str | None:
    text = block.get("text")
    if not isinstance(text, str):
        return "text.text: Input should be a valid string"
    if not text:
        return "text content blocks must be non-empty"
    if not text.strip():
        return "text content blocks must contain non-whitespace text"
    return None


def _tool_result(block: Mapping[str, object]) -> str | None:
    content = block.get("content")
    if isinstance(content, list):
        for inner in content:
            kind = inner.get("type")
            if kind not in ("text", "image", "document", "search_result", "tool_reference"):
                return f"tool_result.content: `{kind}` is not permitted"
            if kind == "text" and (problem := _text(inner)):
                return f"tool_result.content: {problem}"
            if block.get("is_error") and kind != "text":
                return 'tool_result.content: all content must be type "text" if `is_error` is true'
    elif content is not None and not isinstance(content, str):
        return "tool_result.content: Input should be a string or a list"
    return None


def _merge_messages(
    messages: Sequence[Mapping[str, object]],
) -> list[tuple[str, list[dict[str, object]]]]:
    """Return (role, blocks) pairs, with adjacent messages of one role merged, without `system`."""
    turns: list[tuple[str, list[dict[str, object]]]] = []
    for message in messages:
        role = str(message["role"])
        if role == "system":
            continue
        blocks = as_blocks(message["content"])
        if turns and turns[-1][0] == role:
            turns[-1] = (role, turns[-1][1] + blocks)
        else:
            turns.append((role, blocks))
    return turns


def _pairs(turns: Sequence[tuple[str, list[dict[str, object]]]]) -> str | None:
    all_ids: set[str] = set()
    open_ids: list[str] = []
    for index, (role, blocks) in enumerate(turns):
        if role == "assistant":
            open_ids = [str(b["id"]) for b in blocks if b.get("type") == "tool_use"]
            if len(set(open_ids)) != len(open_ids) or all_ids & set(open_ids):
                return f"messages.{index}: `tool_use` ids must be unique"
            all_ids |= set(open_ids)
            continue
        problem = _results(index, blocks, open_ids)
        if problem:
            return problem
        open_ids = []
    if open_ids:
        return _without_result(len(turns) - 1, open_ids)
    return None


def _results(
    index: int, blocks: Sequence[Mapping[str, object]], open_ids: Sequence[str]
) -> str | None:
    results = [str(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]
    for each in results:
        if each not in open_ids:
            return (
                f"messages.{index}.content: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {each}. Each `tool_result` block must have a corresponding `tool_use` "
                "block in the previous message."
            )
    if len(set(results)) != len(results):
        return (
            f"messages.{index}.content: each tool_use must have a single result. Found multiple "
            "`tool_result` blocks with one id"
        )
    leading: list[str] = []
    for block in blocks:
        if block.get("type") != "tool_result":
            break
        leading.append(str(block.get("tool_use_id")))
    missing = [each for each in open_ids if each not in leading]
    return _without_result(index - 1, missing) if missing else None


def _without_result(index: int, ids: Sequence[str]) -> str:
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately "
        f"after: {', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` "
        "block in the next message."
    )


def _thinking(chain: PrefixChain) -> str | None:
    """Check thinking blocks that this server signed; others pass."""
    prefix_digest = ""
    for index, unit in enumerate(chain.units):
        signature = str(unit.block.get("signature", ""))
        if unit.block.get("type") == "thinking" and signature.startswith("sig."):
            text = str(unit.block.get("thinking", ""))
            if signature != sign_thinking(prefix_digest, text):
                return (
                    f"content unit {index}: Invalid `signature` in `thinking` block: the block or "
                    "the content before it was modified since the response"
                )
        prefix_digest = unit.digest
    return None


def too_long(
    body: Mapping[str, object], chain: PrefixChain, model: ModelInfo
) -> RequestProblem | None:
    """Return why a prompt does not fit the model; None if it does."""
    message = _size(body, chain, model)
    return RequestProblem(message) if message else None


def _size(body: Mapping[str, object], chain: PrefixChain, model: ModelInfo) -> str | None:
    limit = model.max_input_tokens
    if chain.tokens > limit:
        return f"prompt is too long: {chain.tokens} tokens > {limit} maximum"
    max_tokens = body["max_tokens"]
    if isinstance(max_tokens, int) and chain.tokens + max_tokens > limit and not model.sampling:
        return (
            f"input length and `max_tokens` exceed context limit: {chain.tokens} + "
            f"{max_tokens} > {limit}, decrease input length or `max_tokens` and try again"
        )
    return None
