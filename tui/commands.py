"""Slash commands on the screen: runs a typed command.

The commands themselves are defined in `agent.commands`; this module alone acts on their results.
Next: `tui.panels`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, assert_never, cast

from tui.ports.command_screen import CommandScreen

if TYPE_CHECKING:
    # For annotations only: commands are imported when the first `/` is typed.
    from agent.commands.command_results import CommandResult
    from agent.commands.spec import Command
    from tui.editing.text_buffer import TextBuffer


_LEAVING: Final = frozenset({"exit", "quit", ":q", ":q!", ":wq"})
"""Lines that exit the program, as in other programs; with a leading space they are sent."""


def normalize_exit(text: str) -> str:
    """Return `/exit` for a line that exits, otherwise the line itself."""
    return "/exit" if text in _LEAVING else text


class PanelModule(Protocol):
    """The interface of a panel's module."""

    async def open_panel(self, screen: CommandScreen, argument: str) -> None: ...


async def run_command(text: str, screen: CommandScreen) -> None:
    """Run the command of a line that begins with `/`; without a command the line is a prompt."""
    # Imported with the first command, not with the first frame.
    from agent.commands.command_registry import split_command
    from agent.errors import AgentError

    parts = split_command(text)
    command = screen.session.registry.find(parts[0]) if parts is not None else None
    if command is None and screen.session.commands is not None:
        await screen.session.commands.ready()
        command = screen.session.registry.find(parts[0]) if parts is not None else None
    if parts is None or command is None:
        _send_or_ask(text, screen)
        return
    try:
        await _run(command, parts[1], text, screen)
    except AgentError as error:
        screen.notice(str(error), "warning")
    except OSError as error:
        # A disk error ends the command, not the program.
        screen.notice(f"/{command.meta.name}: {error.strerror or error}", "warning")


async def _run(command: Command, argument: str, text: str, screen: CommandScreen) -> None:
    match command.type:
        case "prompt":
            screen.session.send(text)
        case "interactive":
            await open_panel(command.panel, argument, screen)
        case "local":
            if (command_service := screen.session.commands) is not None:
                await apply_result(await command_service.run_local(command, argument), screen)
        case _:
            assert_never(command.type)


async def open_panel(name: str, argument: str, screen: CommandScreen) -> None:
    """Open a panel and return once it is closed."""
    from tui.panels import PANELS  # imported with the first panel

    module = cast(PanelModule, import_module(PANELS[name]))
    await module.open_panel(screen, argument)


async def apply_result(result: CommandResult, screen: CommandScreen) -> None:
    """Apply the result of a local command to the screen."""
    from agent.commands import command_results as results

    match result:
        case results.ShowText(text, level, is_about_screen):
            facts = screen.workspace.output_line() if is_about_screen else ""
            screen.notice(f"{text}\n{facts}" if facts else text, level)
        case results.Leave():
            screen.session.leave()
        case results.ClearConversation():
            await screen.session.restart(None)
        case results.Compact(focus):
            screen.session.compact(focus)
        case results.CopyText(text, hint):
            screen.workspace.copy_to_clipboard(text)
            screen.hint(hint)
        case results.EditFile(path, hint):
            screen.workspace.edit_file(path)
            if hint:
                screen.hint(hint)
        case results.SendPrompt(text):
            screen.session.send(text)
        case results.OpenPanel(panel, argument):
            await open_panel(panel, argument, screen)
        case results.Renamed(title):
            screen.workspace.name_window(title)
            screen.notice(f"Session renamed to {title!r}.")
        case results.LeadTeam(team, session_id, notice):
            if await screen.session.restart(session_id, team=team):
                screen.notice(notice)
        case results.OpenSession(session_id, hint):
            await screen.session.restart(session_id)
            if hint:
                screen.notice(hint)
        case _:
            assert_never(result)


def _send_or_ask(text: str, screen: CommandScreen) -> None:
    """Send the text as a prompt, unless its first word looks like a misspelled command."""
    from agent.commands.advice import advice_on  # imported with the first such text

    waiting = screen.session.commands.custom.waiting if screen.session.commands is not None else ()
    advice = advice_on(text, screen.session.registry, waiting)
    if advice is None:
        screen.session.send(text)
        return
    screen.notice(advice, "warning")

    def restore_text(buffer: TextBuffer) -> None:
        # Command names arrive late at the start of a conversation: keep what was typed since.
        if buffer.is_empty:
            buffer.set_text(text)

    screen.composer.edit(restore_text)
