"""Our tools called by code that runs at the endpoint ("programmatic tool calling").

Each call is decided and run like any other. Until the code has ended, the endpoint accepts only
results after it: messages of hooks and reminders wait for the next message, and if the user
sent a prompt, the run is abandoned; its calls stay in the history as direct ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agent.messages import Block, Message
from agent.model.dialects.foreign_blocks import ORIGIN, origin, origin_of

CODE_CALLS: Final = "code_execution_20260120"
"""The kind of code execution that may call tools."""

_CALLED: Final = frozenset({"Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "Write"})
_MAY_WAIT: Final = frozenset({"hook", "reminder"})
_NO_TEXT: Final = "(This result is not text, and code can read nothing else.)"


def with_callers(tools: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return the tools; if code execution is offered, code may call those that return text."""
    if not has_code(tools):
        return list(tools)
    return [_with_callers(tool) if _is_called(tool) else tool for tool in tools]


def has_code(tools: Sequence[Mapping[str, object]]) -> bool:
    """Return whether code execution that calls tools is offered."""
    return any(tool.get("type") == CODE_CALLS for tool in tools)


def mark_call(block: Block, container: str | None) -> Block:
    """Return a block of an answer; a call by code is marked with the container it waits in."""
    if container is None or not run_of(block):
        return block
    return {**block, **origin("", container=container)}


def run_of(block: Mapping[str, object]) -> str:
    """Return the id of the code run that made a call; empty for the model's own calls."""
    caller = block.get("caller")
    if block.get("type") != "tool_use" or not isinstance(caller, Mapping):
        return ""
    is_code = str(caller.get("type")).startswith("code_execution")
    return str(caller.get("tool_id")) if is_code else ""


def waiting_container(messages: Sequence[Message]) -> str | None:
    """Return the container of the code that waits for the last results; None if none waits."""
    for message in reversed(messages):
        if message.role == "assistant":
            for block in message.content:
                if run_of(block) and (container := origin_of(block, "").get("container")):
                    return str(container)
            return None
    return None


def settle_calls(messages: Sequence[Message], *, is_offered: bool) -> Sequence[Message]:
    """Return the messages as the endpoint accepts them; the same object if no code made a call."""
    if not any(run_of(block) for message in messages for block in message.content):
        return messages
    abandoned_ids = set(_abandoned_runs(messages, is_offered))
    settled_messages: list[Message] = []
    waiting: list[Message] = []
    only_results = False
    for message in messages:
        if message.role == "assistant":
            content = tuple(_without_runs(message.content, abandoned_ids))
            only_results = any(run_of(block) for block in content)
            if content:
                settled_messages.append(replace(message, content=content))
        elif not only_results:
            # After the results, which come first in a turn.
            settled_messages += [message, *waiting]
            waiting = []
        elif _is_results(message):
            settled_messages.append(
                replace(message, content=tuple(map(_text_only, message.content)))
            )
        else:
            waiting.append(message)
    return settled_messages


def _abandoned_runs(messages: Sequence[Message], is_offered: bool) -> Iterator[str]:
    """Yield the ids of runs that never ended and no longer wait for results."""
    blocks = [block for message in messages for block in message.content]
    ended_runs = {str(b["tool_use_id"]) for b in blocks if _is_code_result(b)}
    last = max(i for i, message in enumerate(messages) if message.role == "assistant")
    waiting = {run_of(block) for block in messages[last].content}
    has_new_prompt = any(
        not _is_results(m) and m.origin not in _MAY_WAIT for m in messages[last + 1 :]
    )
    if not is_offered or has_new_prompt or waiting_container(messages) is None:
        waiting = set()
    yield from {run_of(block) for block in blocks} - {""} - ended_runs - waiting


def _is_code_result(block: Mapping[str, object]) -> bool:
    return str(block.get("type")).endswith("code_execution_tool_result")


def _is_results(message: Message) -> bool:
    return all(block.get("type") == "tool_result" for block in message.content)


def _without_runs(content: Sequence[Block], abandoned_ids: set[str]) -> Iterator[Block]:
    for block in content:
        if run_of(block) in abandoned_ids:
            yield {name: value for name, value in block.items() if name not in ("caller", ORIGIN)}
        elif block.get("type") != "server_tool_use" or block.get("id") not in abandoned_ids:
            yield block


def _text_only(result: Block) -> Block:
    content = result.get("content")
    if not isinstance(content, list):
        return result
    texts = [each for each in content if each.get("type") == "text"]
    return {**result, "content": texts or [{"type": "text", "text": _NO_TEXT}]}


def _is_called(tool: Mapping[str, object]) -> bool:
    name = str(tool.get("name"))
    return "input_schema" in tool and (name in _CALLED or name.startswith("mcp__"))


def _with_callers(tool: Mapping[str, object]) -> Mapping[str, object]:
    # The endpoint rejects a tool that is both strict and callable by code.
    fields = {name: value for name, value in tool.items() if name != "strict"}
    return {**fields, "allowed_callers": ["direct", CODE_CALLS]}
