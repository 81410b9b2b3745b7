"""`/diff`: changes since the last commit, and changes of each prompt, file by file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.display import DiffDisplay
from agent.errors import AgentError
from agent.files.git_diff import FileDiff, read_diff
from agent.session.checkpoints.turn_changes import TurnChange
from agent.tools.files.paths import display_path
from themes.theme import Role
from tui.dialogs.dialog import run_alongside
from tui.panels.diff_panel import ChangedFile, DiffPanel, Source
from tui.ports.command_screen import CommandScreen
from tui.text.highlight import Highlighter
from tui.text.safe_text import shown_display, shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, row
from tui.text.wrap import wrap
from tui.transcript.diff.change_rows import change_rows
from tui.transcript.diff.diff_view import diff_texts

MAX_TURNS: Final = 50
WAIT_S: Final = 0.03
"""How long to wait for git before the panel opens without its output."""
_TITLE_CHARS: Final = 60
_SINCE_COMMIT: Final = "Changes since the last commit"


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the changes until the panel is closed."""
    if screen.session.commands is None:
        return
    panel = DiffPanel([Source(_SINCE_COMMIT, (), "running git …")])
    async with run_alongside(_read(screen, panel)) as reading:
        # A drawn panel is updated when git has finished; lines are printed only once, so they wait.
        await asyncio.wait({reading}, timeout=WAIT_S if screen.keys.action_ids else None)
        await screen.show_dialog(panel)


async def _read(screen: CommandScreen, panel: DiffPanel) -> None:
    sources = [await _since_commit(screen), *await _per_prompt(screen)]
    if sources[0].files == () and len(sources) > 1:
        # Git reports no changes: start with the newest prompt.
        sources = [*sources[1:], sources[0]]
    panel.replace(sources)


async def _since_commit(screen: CommandScreen) -> Source:
    assert screen.session.commands is not None
    context = screen.session.commands.context
    settings = context.settings()
    title = _SINCE_COMMIT
    if not settings.trust.is_settled:
        return Source(title, (), "git runs only in trusted folders: /trust")
    files = await read_diff(settings.project_root, context.reading)
    if files is None:
        return Source(title, (), "no repository here, or git is not installed")
    changed_files = [
        ChangedFile(_name(f), f.added_count, f.removed_count, _git_rows(f)) for f in files
    ]
    return Source(title, tuple(changed_files), "no changes since the last commit")


def _name(file: FileDiff) -> str:
    return f"{file.path} ({file.what})" if file.what else file.path


async def _per_prompt(screen: CommandScreen) -> list[Source]:
    """Return a source for each prompt that changed files, the newest first."""
    conversation = screen.session.conversation
    checkpoints = conversation.rewinding.checkpoints if conversation is not None else None
    if conversation is None or checkpoints is None:
        return []
    try:
        points = await conversation.rewinding.points()
    except AgentError:
        return []  # The session's file cannot be read; git's output is still shown.
    turn_ids = set(checkpoints.turns)
    sources: list[Source] = []
    for point in reversed([p for p in points if p.turn_id in turn_ids][-MAX_TURNS:]):
        changes = await checkpoints.changes_of(point.turn_id)
        files = tuple(_of_turn(change, conversation.view.launch_dir) for change in changes)
        if files:
            title = shown_line(" ".join(point.text.split())[:_TITLE_CHARS])
            sources.append(Source(f"Changed by “{title}”", files))
    return sources


def _of_turn(change: TurnChange, root: Path) -> ChangedFile:
    name = display_path(change.path, root)
    if change.note:
        note = row("   ", (change.note, MUTED))
        return ChangedFile(name, 0, 0, lambda _: [note])
    display = shown_display(DiffDisplay("", change.old_text or "", change.new_text or ""))
    assert isinstance(display, DiffDisplay)
    diff = diff_texts(display.old, display.new)

    def rows(width: int) -> Sequence[Row]:
        return change_rows(display, width, Highlighter())

    what = "" if change.old_text is not None else " (new)"
    return ChangedFile(
        name + (what if change.new_text is not None else " (deleted)"),
        diff.added_count,
        diff.removed_count,
        rows,
    )


def _git_rows(file: FileDiff) -> Callable[[int], Sequence[Row]]:
    def rows(width: int) -> Sequence[Row]:
        lines: list[Row] = []
        if not file.lines and file.what:
            return [row("   ", (shown_line(file.what), MUTED))]
        for line in file.lines:
            ink = _INKS.get(line[:1], TEXT)
            lines += [row("   ", *part.runs) for part in wrap([(shown_line(line), ink)], width - 4)]
        return lines

    return rows


_INKS: Final = {
    "+": Ink(Role.DIFF_ADDED_SIGN),
    "-": Ink(Role.DIFF_REMOVED_SIGN),
    "@": MUTED,
}
