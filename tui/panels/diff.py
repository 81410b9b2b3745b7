"""`/diff`: what differs from the last commit, file by file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.files.git_diff import FileDiff, read_diff
from themes.theme import Role
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel
from tui.shown import shown_line
from tui.text.ink import FAINT, TEXT, Ink, Row, row
from tui.text.wrap import wrap


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the changed files; Enter shows one."""
    center = screen.commands
    if center is None:
        return
    settings = center.context.settings()
    if not settings.trust.is_settled:
        screen.notice("git runs only in a folder you trust: /trust", "warning")
        return
    files = await read_diff(settings.project_root, center.context.env)
    if files is None:
        screen.notice("git shows no differences here: no repository, or no git.", "warning")
        return
    selected = 0
    while True:
        panel = ListPanel(
            "Changes since the last commit",
            [Item(file.path, f"+{file.added} -{file.removed}") for file in files],
            selected=selected,
            hint="type to search · enter show · esc close",
            empty="no changes since the last commit",
        )
        picked = await screen.show_dialog(panel)
        if picked is None:
            return
        selected = picked.index
        file = files[selected]
        await screen.show_dialog(TextPanel(file.path, _rows(file)))


def _rows(file: FileDiff) -> Callable[[int], Sequence[Row]]:
    def rows(width: int) -> Sequence[Row]:
        made: list[Row] = []
        for line in file.lines:
            ink = _inks.get(line[:1], TEXT)
            made += [row("   ", *part.runs) for part in wrap([(shown_line(line), ink)], width - 4)]
        return made

    return rows


_inks = {"+": Ink(Role.SUCCESS), "-": Ink(Role.ERROR), "@": FAINT}
