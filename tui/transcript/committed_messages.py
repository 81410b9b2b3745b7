"""Shows committed messages as blocks: confirms streamed text, and adds text that did not stream.

The latter occurs in resumed conversations, and with endpoints that do not stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agent.display import CommandDisplay, TodoDisplay, TodoItem
from agent.files.image_mentions import pasted_images
from agent.history import INTERRUPTED_FOR_TOOL_NOTE, INTERRUPTED_NOTE
from agent.prompt.shell_command_note import NOTE
from agent.tools.decline_text import DECLINED, INTERRUPTED
from permissions.base.text.sanitize import sanitize
from tui.text.safe_text import shown_display, shown_line, shown_prompt
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import ThinkingText, ToolCard, ToolState, UserMessage
from tui.transcript.streaming_answer import append_answer

if TYPE_CHECKING:
    from agent.messages import Message


_TASK_STATES: Final = frozenset({"pending", "in_progress", "completed"})


def show_user_message(blocks: BlockList, message: Message) -> None:
    """Add a message of the user, unless it has nothing to show; a `!` command with its output."""
    text = message.text
    if not text.strip():
        return
    key = blocks.unique_key(message.uid)
    note = NOTE.fullmatch(text.strip())
    if note is None:
        blocks.append(UserMessage(key, shown_prompt(text), "prompt", pasted_images(text)))
        return
    command, output = note["command"], sanitize(note["output"])
    blocks.append(UserMessage(key, sanitize(f"!{command}"), "shell"))
    blocks.append(
        ToolCard(
            blocks.unique_key(f"{message.uid}:output"),
            "Bash",
            shown_line(f"Bash {command}"),
            "failed" if note["exit"] else "ok",
            {"command": command},
            0.0,
            result=output,
            display=shown_display(CommandDisplay(command, output)),
            is_users=True,
        )
    )


def show_answer(blocks: BlockList, message: Message, at_s: float, directory: str = "") -> str:
    """Add the blocks of a model's message; return its last text, "" without one.

    Paths in `directory` are shown relative to it.
    """
    last_text = ""
    for position, part in enumerate(message.content):
        key = f"{message.uid}:{position}"
        match part.get("type"):
            case "text" if str(part.get("text", "")).strip() and key not in blocks:
                last_text = sanitize(str(part["text"]))
                append_answer(blocks, message.uid, key, last_text)
            case "thinking" if part.get("thinking") and key not in blocks:
                blocks.remember(message.uid, key)
                text = sanitize(str(part["thinking"]))
                blocks.append(ThinkingText(key, text, is_streaming=False))
            case "tool_use" if str(part.get("id")) not in blocks:
                tool_use_id, name = str(part.get("id")), str(part.get("name"))
                blocks.remember(message.uid, tool_use_id)
                tool_input = part.get("input")
                raw: dict[str, Any] = tool_input if isinstance(tool_input, dict) else {}
                identifier = shown_line(_identifier(name, raw, directory))
                blocks.append(ToolCard(tool_use_id, name, identifier, "running", raw, at_s))
            case _:
                pass
    return last_text


def name_calls(blocks: BlockList, message: Message, directory: str = "") -> None:
    """Label the cards of calls that are not dispatched yet, or never will be."""
    for part in message.content:
        card = blocks.get(str(part.get("id")))
        tool_input = part.get("input")
        waits = isinstance(card, ToolCard) and card.state == "writing"
        if isinstance(card, ToolCard) and waits and isinstance(tool_input, dict):
            identifier = shown_line(_identifier(card.name, tool_input, directory))
            blocks.replace(replace(card, identifier=identifier, input=tool_input))


def show_results(blocks: BlockList, message: Message) -> None:
    """Add results to the cards of calls that have none yet."""
    for part in message.content:
        if part.get("type") != "tool_result":
            continue
        card = blocks.get(str(part.get("tool_use_id")))
        if isinstance(card, ToolCard) and card.state in ("writing", "running", "asking"):
            text = sanitize(_result_text(part.get("content")))
            state: ToolState = "failed" if part.get("is_error") else "ok"
            if text.startswith(DECLINED):
                state = "denied"
            elif text.startswith((INTERRUPTED_NOTE, INTERRUPTED_FOR_TOOL_NOTE, INTERRUPTED)):
                state = "interrupted"
            blocks.replace(
                replace(card, state=state, result=text, display=_tasks(card) or card.display)
            )


def _tasks(card: ToolCard) -> TodoDisplay | None:
    """Return the task list of a call, whose result is only text for the model; None without one."""
    items = card.input.get("todos") if card.name == "TodoWrite" else None
    if not isinstance(items, list):
        return None
    return TodoDisplay(
        tuple(
            TodoItem(
                shown_line(str(item.get("content", ""))),
                item.get("status", "pending"),
                shown_line(str(item.get("activeForm", ""))),
            )
            for item in items
            if isinstance(item, dict) and item.get("status") in _TASK_STATES
        )
    )


def _identifier(name: str, tool_input: dict[str, Any], directory: str) -> str:
    """Return a card's label for a call without a dispatch event, as in resumed conversations."""
    for field in ("command", "file_path", "path", "pattern", "url", "description"):
        value = tool_input.get(field)
        if isinstance(value, str) and value:
            first_line = value.splitlines()[0] if value.splitlines() else value
            if directory and field in ("file_path", "path"):
                first_line = first_line.removeprefix(f"{directory.rstrip('/')}/") or first_line
            return f"{name} {first_line}"
    return name


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for part in content:
        if isinstance(part, dict):
            parts.append(str(part.get("text", f"[{part.get('type', 'content')}]")))
    return "\n".join(parts)
