"""`/copy`: copies an answer or a code block of it to the clipboard, or writes it to a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.settings.locations import expand_home
from permissions.base.text.code_blocks import CodeBlock, fenced_blocks
from permissions.base.text.late_pattern import compile_late
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, Row, row
from tui.text.wrap import clip

WRITE: Final = "w"
SHOWN_LINES: Final = 6
_WHOLE: Final = "markdown"
_ENDINGS: Final = {
    "markdown": "md", "python": "py", "bash": "sh", "shell": "sh", "zsh": "sh", "typescript": "ts",
    "javascript": "js", "rust": "rs", "ruby": "rb", "text": "txt", "yaml": "yml",
}  # fmt: skip
_PLAIN: Final = compile_late(r"[A-Za-z0-9+-]{1,12}")


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Let the user choose what to copy, or with `w` to write to a file."""
    pieces = [CodeBlock(_WHOLE, argument), *fenced_blocks(argument)]
    pick = await screen.show_dialog(
        ListPanel(
            "Copy",
            [_item(index, piece) for index, piece in enumerate(pieces)],
            selected_index=len(pieces) - 1,
            keys=(WRITE,),
            letters="keys",
            preview=_preview(pieces),
            hint="enter copy · w write to a file · / search · esc close",
        )
    )
    if pick is None:
        return
    piece = pieces[pick.index]
    if pick.key == WRITE:
        await _write(screen, piece)
        return
    screen.workspace.copy_to_clipboard(piece.text)
    what = " of code" if pick.index else ""
    screen.hint(f"copied {len(piece.text):,} characters{what}")


def _item(index: int, piece: CodeBlock) -> Item:
    count = piece.text.count("\n") + 1
    size = f"{count} line" if count == 1 else f"{count} lines"
    if not index:
        return Item("The whole answer", f"{len(piece.text):,} characters")
    return Item(f"Code {index}", f"{shown_line(piece.language) or 'text'}, {size}")


def _preview(pieces: Sequence[CodeBlock]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        lines = pieces[index].text.strip("\n").split("\n")
        visible_lines = [shown_line(line) for line in lines[:SHOWN_LINES]]
        if len(lines) > SHOWN_LINES:
            visible_lines[-1:] = [f"… {len(lines) - SHOWN_LINES + 1} more lines"]
        # The same height for each piece, so that the list does not move.
        visible_lines += [""] * (min(SHOWN_LINES, _max_line_count(pieces)) - len(visible_lines))
        return [row(*clip([("   " + line, MUTED)], width - 1)) for line in visible_lines]

    return rows


def _max_line_count(pieces: Sequence[CodeBlock]) -> int:
    return max(piece.text.strip("\n").count("\n") + 1 for piece in pieces)


async def _write(screen: CommandScreen, piece: CodeBlock) -> None:
    entry = LineEntry(
        "Write to a file", "A new file, relative to the project.", "enter write · esc back"
    )
    entry.paste(f"answer.{file_ending(piece.language)}")
    name = await screen.show_dialog(entry)
    if name is None or screen.session.commands is None or screen.session.conversation is None:
        return
    target = screen.session.conversation.view.cwd / expand_home(
        name, screen.session.commands.context.home
    )
    try:
        await asyncio.to_thread(_create, target, piece.text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        screen.notice(f"Not written: {target}: {reason}.", "warning")
        return
    screen.notice(f"written to {screen.workspace.display_path(target)}")


def file_ending(language: str) -> str:
    """Return a file ending for a language: a known one, the name itself if plausible, or txt."""
    own = language if _PLAIN.fullmatch(language) else "txt"
    return _ENDINGS.get(language.lower(), own)


def _create(target: Path, text: str) -> None:
    with target.open("x", encoding="utf-8", errors="replace") as file:
        file.write(text if text.endswith("\n") else text + "\n")
