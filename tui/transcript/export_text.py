"""Converts blocks to text: Markdown unchanged, with the author's sign, and changes as patches.

Pure. Nothing is laid out, so that it is fast for long conversations, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from agent.display import (
    CommandDisplay,
    DiffDisplay,
    PlanDisplay,
    TextDisplay,
    TodoDisplay,
    WorkflowDisplay,
)
from tui.transcript.blocks import (
    AssistantText,
    Block,
    CompactionLine,
    EndLine,
    ErrorBlock,
    HookLine,
    NoticeLine,
    ThinkingText,
    ToolCard,
    UserMessage,
)
from tui.transcript.diff.diff_view import DiffHunks, diff_texts

_SIGNS: Final = {"added": "+", "removed": "-", "same": " "}
_PROMPTS: Final = {"prompt": "❯ ", "shell": "! ", "command": "/"}
_NOTICES: Final = {"info": "· ", "warning": "! ", "error": "✗ "}
_STATES: Final = {"failed": "failed", "invalid": "not run", "denied": "denied"}
_TASKS: Final = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


def transcript_text(blocks: Iterable[Block]) -> str:
    """Return the text of all blocks, separated by blank lines; "" without blocks."""
    text: list[str] = []
    for block in blocks:
        source = block_source(block).rstrip()
        if not source:
            continue
        if isinstance(block, AssistantText) and block.continues and text:
            text[-1] += "\n" + source
        else:
            text.append(source)
    return "\n\n".join(text)


def block_source(block: Block) -> str:
    """Return the full text of a block, after the sign of its author."""
    match block:
        case UserMessage():
            return _prompt(block)
        case AssistantText():
            return block.text.strip("\n")
        case ThinkingText():
            return _hanging_indent("✻ ", block.text.strip())
        case NoticeLine():
            return _hanging_indent(_NOTICES[block.level], block.text)
        case HookLine():
            return _hook(block)
        case ErrorBlock():
            return _hanging_indent("✗ ", block.message or block.kind)
        case CompactionLine():
            counts = f"{block.tokens_before} → {block.tokens_after} tokens"
            return f"─── compacted, {counts}\n\n{block.summary}"
        case EndLine(reason="completed"):
            return f"✓ {block.detail}"
        case EndLine():
            return f"■ {block.reason.replace('_', ' ')} {block.detail}"
        case ToolCard():
            return "\n".join(_call(block))
        case _:
            assert_never(block)


def _call(card: ToolCard) -> Iterator[str]:
    head, *more = (card.identifier or card.name).split("\n")
    state = _STATES.get(card.state)
    yield f"● {head}" + (f"  ({state})" if state else "")
    yield from (f"  {line}" for line in more)
    if card.decision is not None and card.decision.feedback:
        yield f"  ❯ {card.decision.feedback}"
    yield from (f"  {line}".rstrip() for line in _outcome(card).strip("\n").split("\n"))


def _prompt(block: UserMessage) -> str:
    sign = _PROMPTS[block.kind]
    text = block.text.strip("\n")
    return _hanging_indent(
        sign, text if block.kind == "prompt" else text.removeprefix(sign.strip())
    )


def _hook(block: HookLine) -> str:
    heading = (f"{block.event} hook, {block.outcome}",) if block.needs_heading else ()
    return _hanging_indent("↳ ", "\n".join((*heading, *block.notices)))


def _command(display: CommandDisplay) -> str:
    status = f"exit status {display.exit_code}" if display.exit_code else ""
    return "\n".join(part for part in (display.output.rstrip("\n"), status) if part)


def _outcome(card: ToolCard) -> str:
    if card.state in ("failed", "invalid", "denied"):
        return card.result
    match card.display:
        case DiffDisplay():
            return patch(card.display)
        case PlanDisplay():
            return card.display.plan
        case TodoDisplay():
            return "\n".join(f"{_TASKS[i.status]} {i.content}" for i in card.display.items)
        case CommandDisplay():
            return _command(card.display)
        case TextDisplay():
            return card.display.text
        case None | WorkflowDisplay():
            return card.result or card.output
        case _:
            assert_never(card.display)


def patch(display: DiffDisplay) -> str:
    """Return a change as a unified diff for `git apply` or `patch`; "" without changes."""
    diff = diff_texts(display.old, display.new)
    if not diff.hunks:
        return ""
    old = "/dev/null" if display.is_new else f"a/{display.path}"
    return "\n".join((f"--- {old}", f"+++ b/{display.path}", *_hunks(diff, display.first_line - 1)))


def _hunks(diff: DiffHunks, lines_before: int) -> Iterator[str]:
    for hunk in diff.hunks:
        olds = [line.old_number for line in hunk if line.old_number is not None]
        news = [line.new_number for line in hunk if line.new_number is not None]
        yield f"@@ -{_range(olds, lines_before)} +{_range(news, lines_before)} @@"
        yield from (_SIGNS[line.kind] + line.text for line in hunk)


def _range(numbers: list[int], lines_before: int) -> str:
    return f"{numbers[0] + lines_before},{len(numbers)}" if numbers else "0,0"


def _hanging_indent(sign: str, text: str) -> str:
    pad = "\n" + " " * len(sign)
    return sign + pad.join(text.split("\n"))
