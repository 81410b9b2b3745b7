"""What the next agent receives of a conversation: filters, and earlier turns as one message."""

from __future__ import annotations

import copy
import json
import re
from typing import Final

from agent.library.agents.handoffs import HandoffHistoryMapper, HandoffInputData
from agent.library.base.raw_items import InputItem, RawItem, input_list
from agent.library.items.run_items import (
    AdmittedInputItem,
    CompactionItem,
    MessageOutputItem,
    RunItem,
    ToolApprovalItem,
)

_START: Final = "<CONVERSATION HISTORY>"
_END: Final = "</CONVERSATION HISTORY>"
_PREAMBLE: Final = (
    "For context, here is the conversation so far between the user and the previous agent:"
)
_OTHER_PREAMBLE: Final = "For context, here is the conversation so far:"
_SUMMARY_ONLY: Final = frozenset(
    {
        "function_call", "function_call_output", "reasoning", "tool_search_call",
        "tool_search_output", "computer_call", "computer_call_output", "custom_tool_call",
        "custom_tool_call_output", "shell_call", "shell_call_output", "apply_patch_call",
        "apply_patch_call_output", "local_shell_call", "local_shell_call_output", "mcp_call",
        "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "web_search_call",
        "file_search_call", "code_interpreter_call", "image_generation_call", "program",
        "program_output", "hosted_tool_call",
    }
)  # fmt: skip
"""Types that appear only in the summary, never as items of their own."""
_ROLES: Final = frozenset({"user", "assistant", "system", "developer"})
_KEPT_ITEMS: Final = (MessageOutputItem, CompactionItem, AdmittedInputItem)

_wrappers: list[str] = [_START, _END]


def set_conversation_history_wrappers(*, start: str | None = None, end: str | None = None) -> None:
    """Replace the markers around earlier turns; None leaves a marker unchanged."""
    if start is not None:
        _wrappers[0] = start
    if end is not None:
        _wrappers[1] = end


def reset_conversation_history_wrappers() -> None:
    """Restore the default markers."""
    _wrappers[:] = [_START, _END]


def get_conversation_history_wrappers() -> tuple[str, str]:
    """Return the markers around earlier turns."""
    return _wrappers[0], _wrappers[1]


def remove_all_tools(data: HandoffInputData) -> HandoffInputData:
    """Return the data without calls, outputs, handoffs and reasoning."""
    history = data.input_history
    if isinstance(history, tuple):
        history = tuple(each for each in history if each.get("type") not in _SUMMARY_ONLY)
    input_items = data.input_items
    return data.clone(
        input_history=history,
        pre_handoff_items=_without_tools(data.pre_handoff_items),
        new_items=_without_tools(data.new_items),
        input_items=_without_tools(input_items) if input_items is not None else None,
    )


def _without_tools(items: tuple[RunItem, ...]) -> tuple[RunItem, ...]:
    return tuple(each for each in items if isinstance(each, _KEPT_ITEMS))


def nest_handoff_history(
    handoff_input_data: HandoffInputData, *, history_mapper: HandoffHistoryMapper | None = None
) -> HandoffInputData:
    """Return the data with all earlier turns summarized in one assistant message.

    Messages of the turn with the handoff remain messages. This is not redaction: the summary
    contains arguments and outputs of tools.
    """
    data = handoff_input_data
    earlier = input_list(
        data.input_history if isinstance(data.input_history, str) else list(data.input_history)
    )
    transcript = _flatten(earlier)
    items = [(each, True) for each in _input_items(data.pre_handoff_items)]
    items += [(each, False) for each in _input_items(data.new_items)]
    if history_mapper is not None:
        history = history_mapper([*transcript, *(each for each, _ in items)])
    else:
        history = _nest(transcript, items)
    return data.clone(
        input_history=tuple(copy.deepcopy(history)), pre_handoff_items=(), input_items=()
    )


def default_handoff_history_mapper(transcript: list[InputItem]) -> list[InputItem]:
    """Return one assistant message that lists the transcript."""
    lines = [f"{number}. {_line(item)}" for number, item in enumerate(transcript, 1)]
    start, end = _wrappers
    text = [_PREAMBLE, start, *(lines or ["(no previous turns recorded)"]), end]
    return [{"role": "assistant", "content": "\n".join(text)}]


def _input_items(items: tuple[RunItem, ...]) -> list[InputItem]:
    return [
        copy.deepcopy(each.to_input_item())
        for each in items
        if not isinstance(each, ToolApprovalItem)
    ]


def _nest(transcript: list[InputItem], items: list[tuple[InputItem, bool]]) -> list[InputItem]:
    history: list[InputItem] = []
    pending = list(transcript)
    for item, is_earlier in items:
        if not _is_passed_on(item, is_earlier=is_earlier):
            pending.append(item)
            continue
        if pending or not history:
            history += default_handoff_history_mapper(pending)
            pending = []
        history.append(item)
    if pending or not history:
        history += default_handoff_history_mapper(pending)
    return history


def _is_passed_on(item: InputItem, *, is_earlier: bool) -> bool:
    caller = item.get("caller")
    if isinstance(caller, dict) and caller.get("type") == "program":
        return False
    role = item.get("role")
    if isinstance(role, str) and role:
        return not (is_earlier and role == "assistant")
    return item.get("type") not in _SUMMARY_ONLY


def _line(item: InputItem) -> str:
    role, content = item.get("role"), item.get("content")
    is_line = content is None or (isinstance(content, str) and not re.search(r"[\r\n]", content))
    if isinstance(role, str) and is_line:
        name = item.get("name")
        who = f"{role} ({name})" if isinstance(name, str) and name else role
        return f"{who}: {content or ''}"
    fields = {key: value for key, value in item.items() if key != "provider_data"}
    try:
        return json.dumps(fields, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        # Keys that are not strings, or an object that contains itself: use Python's form.
        return str(fields)


def _flatten(items: list[InputItem]) -> list[InputItem]:
    """Return the items with summaries of earlier handoffs converted back to items."""
    flat: list[InputItem] = []
    for item in items:
        inner_items = _nested_items(item)
        flat.extend([item] if inner_items is None else inner_items)
    return flat


def _nested_items(item: InputItem) -> list[InputItem] | None:
    content = item.get("content")
    if item.get("role") != "assistant" or not isinstance(content, str):
        return None
    preamble, _, rest = content.partition("\n")
    start, end = f"{_wrappers[0]}\n", f"\n{_wrappers[1]}"
    if preamble not in (_PREAMBLE, _OTHER_PREAMBLE):
        return None
    if not rest.startswith(start) or not rest.endswith(end):
        return None
    records = _records(rest[len(start) : -len(end)])
    return [inner_item for each in records if (inner_item := _item(each)) is not None]


def _records(body: str) -> list[str]:
    """Return the numbered entries; a line without a number continues the entry before it."""
    records: list[str] = []
    is_numbered = False
    for line in body.splitlines():
        if not line.strip():
            continue
        starts = re.match(r"\s*\d+\.", line) is not None
        if not records or starts or not is_numbered:
            records.append(line.strip())
            is_numbered = starts
        else:
            records[-1] += f"\n{line.rstrip()}"
    return records


def _item(record: str) -> InputItem | None:
    text = re.sub(r"^\d+\.\s*", "", record.strip())
    data = _object(text)
    if data is not None:
        return data
    who, colon, content = text.partition(":")
    role, name = _role_and_name(who.strip())
    if not colon and role not in _ROLES:
        return None
    if not who.strip():
        return None
    content = content.strip()
    if role not in _ROLES and (fields := _object(content)) is not None:
        return {**fields, "type": role}
    name_field: InputItem = {"name": name} if name else {}
    return {"role": role, **name_field, "content": content}


def _role_and_name(text: str) -> tuple[str, str | None]:
    match = re.fullmatch(r"(.*)\((.+)\)", text, re.DOTALL)
    if match is None or not match[2].strip():
        return text or "developer", None
    return match[1].strip() or "developer", match[2].strip()


def _object(text: str) -> dict[str, RawItem] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    data.pop("provider_data", None)
    return data


RECOMMENDED_PROMPT_PREFIX: Final = (
    "# System context\n"
    "You are one of several agents that work on the user's request together. An agent hands the "
    "conversation to another one by calling a function named `transfer_to_<agent_name>`. Handoffs "
    "happen behind the scenes: do not mention them to the user.\n"
)


def prompt_with_handoff_instructions(prompt: str) -> str:
    """Return instructions with the recommended preface for agents with handoffs."""
    return f"{RECOMMENDED_PROMPT_PREFIX}\n\n{prompt}"
