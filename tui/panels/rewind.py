"""`/rewind`: goes back to before a prompt: the conversation, the files or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from agent.errors import AgentError
from agent.files.image_mentions import with_image_labels
from agent.history import HistoryPart
from agent.session.checkpoints.checkpoint import Preview, RestoreResult
from agent.session.checkpoints.turn_changes import REDO
from agent.session.rewind import RewindPoint
from permissions.base.text.count_text import count_text
from tui.editing.text_buffer import TextBuffer
from tui.input.actions import Context
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen
from tui.ports.conversation import ConversationPort
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, Row, row
from tui.text.wrap import clip

MAX_SHOWN: Final = 6
_NAME_CHARS: Final = 60

What = Literal["both", "conversation", "files", "since", "before", ""]
"""What to restore or summarize; "": nothing."""


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Let the user choose a prompt, then what to restore."""
    conversation = screen.session.conversation
    try:
        points = await conversation.rewinding.points() if conversation is not None else ()
    except AgentError as error:
        screen.notice(str(error), "warning")
        return
    undo = await _restore_to_undo(conversation) if conversation is not None else None
    if conversation is None or not (points or undo):
        screen.notice("no message to rewind to yet")
        return
    newest_first = points[::-1]
    items = [
        Item(_line(point)[:200], "before a summary" * point.is_compacted) for point in newest_first
    ]
    if undo is not None:
        items.append(
            Item(
                "Undo the last restore",
                f"{count_text(len(undo.changes), 'file')} will change again",
            )
        )
    panel = ListPanel(
        "Rewind",
        items,
        question="Rewind to before which message?",
        contexts=(Context.MESSAGE_SELECTOR,),
        letters="keys",
        hint="↑↓ select · enter confirm · / search · esc close",
    )
    pick = await screen.show_dialog(panel)
    if pick is None:
        return
    if undo is not None and pick.index == len(newest_first):
        result = await _restore(screen, conversation, undo.turn_id)
        if result is not None:
            _report(screen, result, "changed back")
        return
    point = newest_first[pick.index]
    preview = await conversation.rewinding.preview_files(point.turn_id)
    what = await _ask_what(screen, point, preview)
    if what in ("before", "since"):
        screen.session.compact("", HistoryPart(point.message_uid, what))
        if what == "since":
            _insert_into_prompt(screen, point.text)
        return
    await _restore_choice(screen, conversation, point, what)


async def _restore_choice(
    screen: CommandScreen, conversation: ConversationPort, point: RewindPoint, what: str | None
) -> None:
    """Restore what was chosen: the files, the conversation or both; nothing for None."""
    result = None
    if what in ("both", "files"):
        result = await _restore(screen, conversation, point.turn_id)
        if result is None:
            return
    if what in ("both", "conversation"):
        try:
            text = await conversation.rewinding.rewind(point.message_uid)
        except AgentError as error:
            screen.notice(str(error), "warning")
        else:
            screen.session.show_history(conversation.view.messages)
            _insert_into_prompt(screen, text)
    if result is not None:
        # Reported last, so that the notice is below the history that is shown again.
        _report(screen, result, "restored; /rewind to undo")


def _line(point: RewindPoint) -> str:
    return " ".join(with_image_labels(point.text).split())


def _insert_into_prompt(screen: CommandScreen, text: str) -> None:
    """Insert a message's text into the prompt, before the current draft."""

    def put(buffer: TextBuffer) -> None:
        draft_text = buffer.draft.expanded_text
        buffer.set_text(f"{text}\n{draft_text}" if draft_text.strip() else text)

    screen.composer.edit(put)


async def _restore_to_undo(conversation: ConversationPort) -> Preview | None:
    """Return what undoing the last restore would change; None if there is nothing to undo."""
    checkpoints = conversation.rewinding.checkpoints
    last = checkpoints.turns[-1] if checkpoints is not None and checkpoints.turns else ""
    if not last.startswith(REDO):
        return None
    preview = await conversation.rewinding.preview_files(last)
    return preview if preview is not None and preview.changes else None


async def _restore(
    screen: CommandScreen, conversation: ConversationPort, turn_id: str
) -> RestoreResult | None:
    """Restore files; None if that failed, which is reported to the user."""
    try:
        return await conversation.rewinding.restore_files(turn_id) or RestoreResult((), (), "")
    except AgentError as error:
        screen.notice(str(error), "warning")
        return None


def _report(screen: CommandScreen, result: RestoreResult, how: str) -> None:
    if result.done_changes or result.failures:
        screen.notice(f"{count_text(len(result.done_changes), 'file')} {how}")
    for change, reason in result.failures:
        screen.notice(f"{change.path} could not be restored: {reason}", "warning")


async def _ask_what(screen: CommandScreen, point: RewindPoint, preview: Preview | None) -> What:
    changes = preview.changes if preview is not None else ()
    choices: list[tuple[What, str, str]] = []
    if changes:
        choices += [("both", "Restore code and conversation", "")]
    choices += [("conversation", "Restore conversation", "files are not changed")]
    if changes:
        choices += [("files", "Restore code", "the conversation continues")]
    if not point.is_compacted:
        choices += [
            ("since", "Summarize from here", "replaces this message and everything after it"),
            ("before", "Summarize up to here", "replaces everything before it"),
        ]
    choices += [("", "Cancel", "")]

    def rows(_index: int, width: int) -> Sequence[Row]:
        lines = [_change(screen, change.path, change.action) for change in changes]
        hidden = len(lines) - MAX_SHOWN
        if hidden > 0:
            lines = [*lines[:MAX_SHOWN], f"and {count_text(hidden, 'file')} more"]
        lines += [f"not restored: {text}" for text in (preview.not_covered[:3] if preview else ())]
        return [row(*clip([("   " + shown_line(line), MUTED)], width - 1)) for line in lines]

    name = _line(point)[:_NAME_CHARS]
    count = (
        f"{count_text(len(changes), 'file')} will be restored:"
        if changes
        else "No files were changed since."
    )
    panel = ListPanel(
        "Rewind",
        [Item(label, detail) for _, label, detail in choices],
        question=f"Rewind to before “{shown_line(name)}”. {count}",
        preview=rows,
        hint="↑↓ select · enter confirm · esc close",
    )
    pick = await screen.show_dialog(panel)
    return choices[pick.index][0] if pick is not None else ""


def _change(screen: CommandScreen, path: object, action: str) -> str:
    ends = {"delete": "  will be deleted", "cannot": "  cannot be restored"}
    return f"{path}{ends.get(action, '')}".replace(f"{screen.workspace.directory}/", "")
