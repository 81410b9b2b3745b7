"""Draws blocks as rows: everything in the transcript except streaming Markdown.

All blocks share a gutter of three cells, which contains the block's sign or is empty. Next:
`tool_card`, `diff_view`, `markdown_stream`.
"""

from __future__ import annotations

from typing import Final, assert_never

from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.screen.width import text_width
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, FAINT, MUTED, Ink, Row, Run, indent_rows, on_ground, row
from tui.text.wrap import clip, wrap
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
from tui.transcript.tool_card import ToolLevel, tool_card_rows
from tui.transcript.turn_facts import WAYS_BACK

GUTTER_CELLS: Final = 3
_NO_SIGN: Final[tuple[Run, ...]] = ((" " * GUTTER_CELLS, MUTED),)
_PROMPT_FOLD_LINES: Final = 30


def block_rows(
    block: Block,
    width_cells: int,
    *,
    is_detailed: bool,
    highlighter: Highlighter,
    level: ToolLevel = "short",
) -> list[Row]:
    """Return the rows of a block; `is_detailed` unfolds it, `level` is the detail of calls."""
    width = max(1, width_cells - GUTTER_CELLS - 1)
    match block:
        case UserMessage():
            return _user_message(block, width, is_detailed)
        case AssistantText():
            # Usually drawn by `MarkdownStream`; this is the plain form.
            return indent_rows(wrap([(block.text, Ink())], width), _NO_SIGN, _NO_SIGN)
        case ThinkingText():
            return _thinking(block, width, is_detailed)
        case ToolCard():
            return tool_card_rows(
                block, width_cells, is_detailed=is_detailed, highlighter=highlighter, level=level
            )
        case NoticeLine():
            sign, ink = _NOTICE_SIGNS[block.level]
            return _sign_rows(sign, ink, wrap([(block.text, _NOTICE_TEXT[block.level])], width))
        case HookLine():
            return _hook(block, width)
        case ErrorBlock():
            return _error(block, width)
        case CompactionLine():
            return _compaction(block, width_cells, is_detailed)
        case EndLine(reason="completed"):
            sign = "✗" if " failed" in block.detail else "✓"
            text = block.detail
            for hint in WAYS_BACK:
                # Leave out the hint if the line would wrap.
                text = text.removesuffix(f" · {hint}") if text_width(text) > width else text
            return _sign_rows(sign, MUTED, wrap([(text, MUTED)], width))
        case EndLine():
            return _sign_rows("■", Ink(Role.WARNING), wrap([(_end_text(block), MUTED)], width))
        case _:
            assert_never(block)


def needs_gap(previous: Block | None, block: Block, *, is_detailed: bool) -> bool:
    """Return whether a blank row separates two blocks; calls of one line are not separated."""
    if previous is None or (isinstance(block, AssistantText) and block.continues):
        return False
    if isinstance(previous, UserMessage) and isinstance(block, ToolCard) and block.is_users:
        return False
    if isinstance(previous, ToolCard) and isinstance(block, ToolCard) and not is_detailed:
        return not (_is_small(previous) and _is_small(block))
    return True


def _is_small(card: ToolCard) -> bool:
    return card.name in _QUIET_TOOLS and card.state in ("ok", "running", "writing")


_QUIET_TOOLS: Final = frozenset({"Read", "Glob", "Grep", "TodoWrite", "BashOutput", "ToolSearch"})
_NOTICE_SIGNS: Final = {
    "info": ("·", MUTED),
    "warning": ("!", Ink(Role.WARNING, bold=True)),
    "error": ("✗", Ink(Role.ERROR)),
}
_NOTICE_TEXT: Final = {"info": MUTED, "warning": Ink(Role.WARNING), "error": Ink(Role.ERROR)}


def _sign_rows(sign: str, ink: Ink, rows: list[Row]) -> list[Row]:
    return indent_rows(rows, ((f" {sign} ", ink),), _NO_SIGN)


def _user_message(block: UserMessage, width: int, is_detailed: bool) -> list[Row]:
    sign, ink = {
        "prompt": ("❯", Ink(Role.PERSON, bold=True)),
        "shell": ("!", Ink(Role.SHELL, bold=True)),
        "command": ("/", Ink(Role.ACCENT, bold=True)),
    }[block.kind]
    text = block.text.removeprefix("!" if block.kind == "shell" else "").strip("\n")
    if block.kind == "command":
        text = text.removeprefix("/")
    lines = wrap([(text, Ink())], width) if is_detailed else _fold_prompt(text, width)
    return on_ground(_sign_rows(sign, ink, lines), Role.SURFACE)


def _fold_prompt(text: str, width: int) -> list[Row]:
    """Return the first rows of a prompt; the rest is not wrapped, because it may be huge."""
    end = -1
    for _ in range(_PROMPT_FOLD_LINES + 1):
        end = text.find("\n", end + 1)
        if end < 0:
            end = len(text)
            break
    # Joining characters have less than a cell each, hence the factor.
    head = text[: min(end, _PROMPT_FOLD_LINES * width * 8)]
    rows = wrap([(head, Ink())], width)
    if len(rows) <= _PROMPT_FOLD_LINES and len(head) == len(text):
        return rows
    visible_rows = rows[: _PROMPT_FOLD_LINES - 1]
    if len(head) < end:
        remaining = len(text) - sum(len(shown_row.text) for shown_row in visible_rows)
        amount = f"{remaining:,} more characters"
    else:
        remaining = len(rows) - len(visible_rows) + text.count("\n", end)
        amount = f"{remaining:,} more lines"
    return [*visible_rows, row((f"… {amount}", MUTED), is_copied=False)]


def _thinking(block: ThinkingText, width: int, is_detailed: bool) -> list[Row]:
    sign_ink = Ink(Role.MUTED, italic=True)
    head = "Thinking…" if block.is_streaming else "Thought"
    if not is_detailed:
        # The newest line during streaming, the first one after that.
        lines = [line for line in block.text.splitlines() if line.strip()]
        preview = (lines[-1] if block.is_streaming else lines[0]).strip() if lines else ""
        # One line of Markdown, without its markup.
        preview = _MARKS.sub(r"\2", preview.lstrip("# ")[: 4 * width])
        runs = clip([(head, sign_ink), ("  ", FAINT), (preview, MUTED)], width)
        return _sign_rows("✻", MUTED, [row(*runs)])
    body = wrap([(block.text.strip(), sign_ink)], width)
    return _sign_rows("✻", MUTED, [row((head, sign_ink)), *body])


_MARKS: Final = compile_late(r"(\*\*|`)(\S|\S.*?\S)\1")
"""Markup of bold text and code."""


def _hook(block: HookLine, width: int) -> list[Row]:
    head = [(f"{block.event} hook", MUTED), (f"  {block.outcome}", MUTED)]
    heading = wrap(head, width) if block.needs_heading else []
    text = "\n".join(block.notices)
    return _sign_rows("↳", MUTED, [*heading, *wrap([(text, MUTED)], width)])


def _error(block: ErrorBlock, width: int) -> list[Row]:
    rows = wrap([(block.message or block.kind, Ink(Role.ERROR))], width)
    if block.request_id:
        rows.append(row(*clip([(f"request {block.request_id}", MUTED)], width)))
    return _sign_rows("✗", Ink(Role.ERROR, bold=True), rows)


def _compaction(block: CompactionLine, width_cells: int, is_detailed: bool) -> list[Row]:
    old_tokens, new_tokens = short_count(block.tokens_before), short_count(block.tokens_after)
    count = block.remaining
    stay = "message" if count == 1 else f"{count} messages"
    prefix = f"last {stay} kept · " if count else ""
    verb = "compacted" if block.means == "summary" else "shortened"
    label = f"{verb} · {prefix}{old_tokens} → {new_tokens} tokens "
    if len(whole := f"Conversation {label}") < width_cells - 5:
        label = whole
    runs = clip([("  ─", FAINT), (f" {label}", MUTED)], width_cells - 2)
    char_count = sum(len(text) for text, _ in runs)
    line = Row((*runs, ("─" * max(0, width_cells - char_count - 2), FAINT)), is_copied=False)
    # The note about shortening is one sentence; a summary is a page long.
    if not block.summary or (block.means == "summary" and not is_detailed):
        return [line]
    body = wrap([(block.summary, MUTED)], width_cells - GUTTER_CELLS - 1)
    return [line, BLANK, *indent_rows(body, _NO_SIGN, _NO_SIGN)]


def _end_text(block: EndLine) -> str:
    reason = _END_TEXTS[block.reason]
    if block.detail.casefold() == reason.casefold():
        return reason
    return f"{reason}: {block.detail}" if block.detail else reason


_END_TEXTS: Final = {
    "completed": "Done",
    "max_turns": "Stopped at the turn limit; type “continue”",
    "aborted_streaming": "Interrupted",
    "aborted_tools": "Interrupted",
    "stop_hook_prevented": "A hook ended the turn",
    "prompt_too_long": "The conversation no longer fits the model; run /compact",
    "budget_exceeded": "The budget of this session is used up",
    "refusal": "The model declined to answer",
    "invalid_answer": "The answer does not follow its schema",
    "error": "Failed",
}


def short_count(number: int) -> str:
    """Return a count in short form: 950, 12.3k, 1.2M."""
    if number < 1000:
        return str(number)
    if number < 999_500:
        return f"{number / 1000:.1f}".removesuffix(".0") + "k"
    return f"{number / 1_000_000:.1f}".removesuffix(".0") + "M"
