"""Which turn answers a request: conditions checked against its body alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from agent.model.scripted.frames import texts_of
from agent.model.scripted.prefix import as_blocks
from agent.model.scripted.scenario import When


def holds(when: When, body: Mapping[str, object], *, number: int, last_turn: str) -> bool:
    """Return whether every given condition holds.

    Args:
        when: the conditions.
        body: the request.
        number: the request's number, from 1.
        last_turn: name of the turn that wrote the last assistant message; "" for none.
    """
    results = _results(body)
    checks = (
        when.request is None or when.request == number,
        when.after is None or last_turn in when.after.split("|"),
        _matches(when.prompt, lambda: prompt_of(body)),
        _matches(when.model, lambda: str(body.get("model", ""))),
        _matches(when.system, lambda: texts_of(as_blocks(body.get("system")))),
        _matches(when.body, lambda: json.dumps(body, ensure_ascii=False)),
        when.has_tool is None or _has_tool(body, when.has_tool),
        when.result is None or when.result in _outcome_kinds(results),
        _matches(when.result_text, lambda: "\n".join(result_text(r) for r in results)),
        when.result_tool is None or when.result_tool in _result_tools(body, results),
    )
    return all(checks)


def prompt_of(body: Mapping[str, object]) -> str:
    """Return the newest text in a user turn, without reminders; empty if there is none."""
    for message in reversed(_messages(body)):
        if message.get("role") == "user":
            text = texts_of(as_blocks(message.get("content")))
            prompt = re.sub(r"<system-reminder>.*?</system-reminder>", "", text, flags=re.DOTALL)
            if prompt.strip():
                return prompt.strip()
    return ""


def last_result(body: Mapping[str, object]) -> str:
    """Return the text of the tool results since the last assistant message; empty if none."""
    return "\n".join(result_text(result) for result in _results(body))


def result_text(result: Mapping[str, object]) -> str:
    """Return the text of one `tool_result` block."""
    return texts_of(as_blocks(result.get("content")))


def _matches(pattern: str | None, text: Callable[[], str]) -> bool:
    return pattern is None or re.search(pattern, text(), re.IGNORECASE | re.DOTALL) is not None


def _messages(body: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    messages = body.get("messages")
    return [m for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []


def _results(body: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the tool results since the last assistant message."""
    results: list[dict[str, object]] = []
    for message in reversed(_messages(body)):
        if message.get("role") == "assistant":
            break
        blocks = as_blocks(message.get("content"))
        results[:0] = [block for block in blocks if block.get("type") == "tool_result"]
    return results


def _outcome_kinds(results: Sequence[Mapping[str, object]]) -> set[str]:
    if not results:
        return {"none"}
    kinds = {"any"}
    for result in results:
        if not result.get("is_error"):
            kinds.add("ok")
            continue
        kinds.add("error")
        if re.search(
            r"\b(denied|refused|declined|rejected|not allowed|permission)\b",
            result_text(result),
            re.I,
        ):
            kinds.add("denied")
    return kinds


def _has_tool(body: Mapping[str, object], name: str) -> bool:
    names = {str(tool.get("name")) for tool in as_blocks(body.get("tools"))}
    return name in names if name else not names


def _result_tools(body: Mapping[str, object], results: Sequence[Mapping[str, object]]) -> set[str]:
    call_ids = {str(result.get("tool_use_id")) for result in results}
    names: set[str] = set()
    for message in _messages(body):
        for block in as_blocks(message.get("content")):
            if block.get("type") == "tool_use" and block.get("id") in call_ids:
                names.add(str(block.get("name")))
    return names
