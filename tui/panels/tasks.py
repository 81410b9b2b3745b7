"""`/tasks`: commands in the background: what they wrote, and an end for those that should end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.tools.shell_process import ShellProcess
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel, text_rows
from tui.text.ink import Row


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show them; Enter shows the output of one, Delete stops it."""
    center = screen.commands
    if center is None:
        return
    selected = 0
    while True:
        shells = center.context.shells.all()
        panel = ListPanel(
            "Background commands",
            [_item(shell) for shell in shells],
            selected=selected,
            keys=("delete", "ctrl+d"),
            preview=_preview(shells),
            hint="enter output · del stop · esc close",
            empty="no command runs in the background (ctrl+b sends one there)",
        )
        picked = await screen.show_dialog(panel)
        if picked is None:
            return
        selected = picked.index
        shell = shells[picked.index]
        if picked.key == "enter":
            await screen.show_dialog(TextPanel(shell.id, text_rows(_output(shell) or "no output")))
        elif shell.is_running:
            await shell.stop()


def _item(shell: ShellProcess) -> Item:
    state = "running" if shell.is_running else f"ended with {shell.exit_code}"
    return Item(f"{shell.id}  {shell.command.splitlines()[0]}", state, shell.is_running)


def _preview(shells: Sequence[ShellProcess]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        tail = "\n".join(_output(shells[index]).splitlines()[-4:])
        return text_rows(tail)(width) if tail else ()

    return rows


def _output(shell: ShellProcess) -> str:
    return shell.output.text()
