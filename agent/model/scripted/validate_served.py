"""Rejects what the real endpoint rejects about its own tools, and about code that calls ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agent.model.scripted.prefix import as_blocks
from agent.model.scripted.scenario import ModelInfo

CONTAINER: Final = "container_scripted"
_CALLING: Final = "code_execution_20260120"


def served_problem(body: Mapping[str, object], model: ModelInfo) -> str | None:
    """Return the first reason to reject a request because of such tools; None if there is none."""
    return _model_problem(body, model) or _advisor(body) or _waiting(body)


def calls_by_code(blocks: Iterable[Mapping[str, object]]) -> bool:
    """Return whether code at the endpoint made one of the calls."""
    return any(_run(block) for block in blocks)


def _model_problem(body: Mapping[str, object], model: ModelInfo) -> str | None:
    tools = as_blocks(body.get("tools"))
    kinds = [str(tool.get("type", "")) for tool in tools]
    for tool, kind in zip(tools, kinds, strict=True):
        if kind.startswith("advisor_") and not model.advises:
            return f"tools: Input tag '{kind}' found using 'type' is not supported."
        is_served = str(tool.get("name")) in model.served
        if kind == _CALLING:
            is_served = "programmatic_tool_calling" in model.served
        if kind and not kind.startswith("advisor_") and model.served and not is_served:
            return f"tools: Input tag '{kind}' found using 'type' is not supported."
        if "allowed_callers" in tool and _CALLING not in kinds:
            return f"tools: allowed_callers of {tool.get('name')} needs {_CALLING}."
        if "allowed_callers" in tool and "strict" in tool:
            return "tools: strict is not supported together with allowed_callers."
    return None


def _advisor(body: Mapping[str, object]) -> str | None:
    """Check the advisor: after an answer that paused with its call, it must be offered again."""
    kinds = [str(tool.get("type", "")) for tool in as_blocks(body.get("tools"))]
    blocks = message_blocks(body)
    result_ids = {
        str(block.get("tool_use_id"))
        for block in blocks
        if block.get("type") == "advisor_tool_result"
    }
    for block in blocks:
        is_call = block.get("type") == "server_tool_use" and block.get("name") == "advisor"
        if is_call and block.get("id") not in result_ids and "advisor_20260301" not in kinds:
            return "messages: a pending advisor call needs the advisor tool."
    return None


def _waiting(body: Mapping[str, object]) -> str | None:
    """Check code that waits: only results may follow, with its container; other code has ended."""
    messages = as_blocks(body.get("messages"))
    ended_runs = {
        str(b.get("tool_use_id"))
        for b in message_blocks(body)
        if str(b.get("type")).endswith("code_execution_tool_result")
    }
    calling = [
        index for index, m in enumerate(messages) if calls_by_code(as_blocks(m.get("content")))
    ]
    assistants = [index for index, m in enumerate(messages) if m.get("role") == "assistant"]
    for index in calling:
        runs = {_run(block) for block in as_blocks(messages[index].get("content"))} - {""}
        next_blocks = [
            b for m in messages[index + 1 : index + 2] for b in as_blocks(m.get("content"))
        ]
        if any(block.get("type") != "tool_result" for block in next_blocks):
            return f"messages.{index + 1}: only tool_result blocks may answer calls by code."
        if runs <= ended_runs:
            continue
        last = as_blocks(messages[assistants[-1]].get("content"))
        if not runs & {_run(block) for block in last}:
            return f"messages.{index}: code_execution tool use without its result."
        if body.get("container") != CONTAINER:
            return "container: Field required while code waits for results."
        if len(messages) > assistants[-1] + 2:
            return "messages: only tool_result blocks may follow while code waits for results."
    return None


def _run(block: Mapping[str, object]) -> str:
    caller = block.get("caller")
    kind = caller.get("type") if isinstance(caller, Mapping) else None
    return str(caller.get("tool_id")) if isinstance(caller, Mapping) and kind == _CALLING else ""


def message_blocks(body: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the blocks of all messages."""
    messages = as_blocks(body.get("messages"))
    return [block for message in messages for block in as_blocks(message.get("content"))]
