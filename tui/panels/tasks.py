"""`/tasks`: commands in the background: what they write, and an end for those that should end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from agent.tools.shell.shell_process import ShellProcess
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import AsksFor, CommandScreen
from tui.text.styled_rows import Row

LOOK_S: Final = 0.5
"""How often a panel looks for output, while it is open and something runs."""

AnswerT = TypeVar("AnswerT")


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show them; Enter shows the output of one, Delete stops it."""
    center = screen.session.commands
    if center is None:
        return
    selected = 0
    while True:
        shells = center.context.shells.all()
        panel = ListPanel(
            "Background commands",
            [_item(shell) for shell in shells],
            selected=selected,
            keys=("delete",),
            preview=_preview(shells),
            hint="enter output · del stop · esc close",
            empty="No background commands. Ctrl+B moves a running one here.",
        )
        picked = await _show_live(screen, panel, shells, partial(_renew, panel, shells))
        if picked is None:
            return
        selected = picked.index
        shell = shells[picked.index]
        if picked.key == "enter":
            await _show_output(screen, shell)
        elif shell.is_running:
            await shell.stop()


async def _show_output(screen: CommandScreen, shell: ShellProcess) -> None:
    """Show what a command has written, and what it goes on to write."""

    def rows(width: int) -> Sequence[Row]:
        return text_rows(_output(shell) or "no output")(width)

    panel = TextPanel(f"{shell.id}  {_line(shell)}", rows, follows_end=True)
    await _show_live(screen, panel, [shell], lambda: panel.redraw())


async def _show_live(
    screen: CommandScreen,
    panel: AsksFor[AnswerT],
    shells: Sequence[ShellProcess],
    refresh: Callable[[], None],
) -> AnswerT:
    """Show a panel that is drawn again while its commands write."""
    watch = asyncio.ensure_future(_look(shells, refresh))
    try:
        return await screen.show_dialog(panel)
    finally:
        watch.cancel()
        await asyncio.wait({watch})


async def _look(shells: Sequence[ShellProcess], refresh: Callable[[], None]) -> None:
    seen = [_state(shell) for shell in shells]
    while any(is_running for is_running, _ in seen):
        await asyncio.sleep(LOOK_S)
        now = [_state(shell) for shell in shells]
        if now != seen:
            seen = now
            refresh()


def _state(shell: ShellProcess) -> tuple[bool, int]:
    return shell.is_running, shell.output.total_chars


def _renew(panel: ListPanel, shells: Sequence[ShellProcess]) -> None:
    panel.replace([_item(shell) for shell in shells])


def _item(shell: ShellProcess) -> Item:
    ended = "stopped" if shell.was_stopped else f"ended with {shell.exit_code}"
    state = "running" if shell.is_running else ended
    return Item(f"{shell.id}  {_line(shell)}", state, shell.is_running)


def _line(shell: ShellProcess) -> str:
    return next(iter(shell.command.splitlines()), "")


def _preview(shells: Sequence[ShellProcess]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        tail = "\n".join(_output(shells[index]).splitlines()[-4:])
        return text_rows(tail)(width) if tail else ()

    return rows


def _output(shell: ShellProcess) -> str:
    return shell.output.text()
