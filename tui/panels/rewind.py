"""`/rewind`: back to before a prompt, with the files or without them, after a look at both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.errors import AgentError
from agent.session.checkpoint import Preview
from tui.command_screen import CommandScreen
from tui.input.actions import Context
from tui.panels.list_panel import Item, ListPanel
from tui.shown import shown_line
from tui.text.ink import BLANK, MUTED, Row, row

MAX_SHOWN: Final = 12


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Let the person choose a prompt, then what goes back."""
    conversation = screen.conversation
    try:
        points = await conversation.rewind_points() if conversation is not None else ()
    except AgentError as error:
        screen.notice(str(error), "warning")
        return
    if conversation is None or not points:
        screen.notice("there is no message to go back to yet")
        return
    newest_first = points[::-1]
    items = [
        Item(" ".join(point.text.split())[:200], "before a summary" * point.is_compacted)
        for point in newest_first
    ]
    panel = ListPanel(
        "Rewind",
        items,
        question="Go back to before which message?",
        contexts=(Context.MESSAGE_SELECTOR,),
        letters="keys",
        hint="↑↓ enter · / search · esc close",
    )
    picked = await screen.show_dialog(panel)
    if picked is None:
        return
    point = newest_first[picked.index]
    preview = await conversation.preview_files(point.turn_id)
    has_files = preview is not None and bool(preview.changes)
    what = await _ask_what(screen, preview) if has_files else "conversation"
    try:
        restored = None
        if what in {"both", "files"}:
            restored = await conversation.restore_files(point.turn_id)
        if what in {"both", "conversation"}:
            text = await conversation.rewind(point.message_uid)
            screen.show_history(conversation.messages)
            screen.composer.edit(lambda buffer: buffer.set_text(text))
    except AgentError as error:
        screen.notice(str(error), "warning")
        return
    if restored is not None:
        screen.notice(f"{len(restored.done)} files are as they were")
        for change, reason in restored.failed:
            screen.notice(f"{change.path} could not be put back: {reason}", "warning")


async def _ask_what(screen: CommandScreen, preview: Preview | None) -> str:
    assert preview is not None
    choices = (
        ("both", "Code and conversation"),
        ("conversation", "Conversation only; files stay as they are"),
        ("files", "Code only; the conversation goes on"),
        ("", "Never mind"),
    )

    def rows(_index: int, _width: int) -> Sequence[Row]:
        lines = [_change(screen, change.path, change.action) for change in preview.changes]
        hidden = len(lines) - MAX_SHOWN
        if hidden > 0:
            lines = [*lines[:MAX_SHOWN], f"and {hidden} more files"]
        lines += [f"not covered: {text}" for text in preview.not_covered[:3]]
        return [*(row(("   " + shown_line(line), MUTED)) for line in lines), BLANK]

    panel = ListPanel(
        "Rewind",
        [Item(label) for _, label in choices],
        question=f"{len(preview.changes)} files would go back:",
        preview=rows,
        hint="↑↓ enter · esc close",
    )
    picked = await screen.show_dialog(panel)
    return choices[picked.index][0] if picked is not None else ""


def _change(screen: CommandScreen, path: object, action: str) -> str:
    signs = {"write": "~", "delete": "-", "cannot": "!"}
    return f"{signs.get(action, '?')} {path}".replace(f"{screen.folder}/", "")
