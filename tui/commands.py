"""`/` on the screen: what a typed command does, and what the menu offers.

What a command is and which there are is the agent's (`agent.commands`); this is the one place that
acts on what they ask for. Next: `tui.panels`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeVar, assert_never, cast

from tui.completion import Candidate
from tui.dialogs.dialog import Dialog

if TYPE_CHECKING:
    # Nothing of a command is imported before the first `/` is typed.
    from collections.abc import Sequence
    from pathlib import Path

    from agent.commands.center import CommandCenter
    from agent.commands.registry import CommandRegistry
    from agent.commands.results import CommandResult
    from agent.messages import Message
    from themes.theme import Theme
    from tui.components.composer import Composer
    from tui.conversation_port import ConversationPort
    from tui.input.keymap import Keymap

AnswerT = TypeVar("AnswerT", covariant=True)


class AsksFor(Dialog, Protocol[AnswerT]):
    """A dialog that gives an answer."""

    async def wait(self) -> AnswerT: ...


class CommandScreen(Protocol):
    """The screen, as commands and panels use it."""

    conversation: ConversationPort | None
    composer: Composer

    @property
    def commands(self) -> CommandCenter | None: ...
    @property
    def registry(self) -> CommandRegistry: ...
    @property
    def action_ids(self) -> frozenset[str]: ...
    @property
    def keymap(self) -> Keymap: ...
    @property
    def theme_name(self) -> str: ...
    @property
    def themes_dir(self) -> Path | None: ...
    @property
    def folder(self) -> Path: ...
    def notice(self, text: str, level: str = "info") -> None: ...
    def hint(self, text: str) -> None: ...
    def leave(self) -> None: ...
    def send(self, text: str) -> None: ...
    def compact(self, focus: str) -> None: ...
    def copy_to_clipboard(self, text: str) -> None: ...
    def edit_file(self, path: Path) -> None: ...
    def use_theme(self, theme: Theme) -> None: ...
    async def keep_setting(self, key: str, value: object) -> None: ...
    def display_path(self, path: Path) -> str: ...
    def show_history(self, messages: Sequence[Message]) -> None: ...
    async def show_dialog(self, dialog: AsksFor[AnswerT]) -> AnswerT: ...
    async def restart(self, session_id: str | None) -> None: ...


class PanelModule(Protocol):
    """What a module of a panel has."""

    async def open_panel(self, screen: CommandScreen, argument: str) -> None: ...


def candidates(registry: CommandRegistry) -> tuple[Candidate, ...]:
    """Return all commands, for the menu below the prompt."""
    return tuple(
        Candidate(
            command.meta.name,
            f"{command.meta.argument_hint}  {command.meta.description}".strip(),
            command.meta.aliases,
        )
        for command in registry.listed()
    )


async def run_command(text: str, screen: CommandScreen) -> None:
    """Do what a line that begins with `/` asks for; what is no command is sent as it is."""
    # With the first command, not with the first frame.
    from agent.commands.registry import split_command
    from agent.errors import AgentError

    parts = split_command(text)
    command = screen.registry.find(parts[0]) if parts is not None else None
    if parts is None or command is None:
        _send_or_ask(text, parts[0] if parts is not None else "", screen)
        return
    match command.type:
        case "prompt":
            screen.send(text)
        case "interactive":
            await open_panel(command.panel, parts[1], screen)
        case "local":
            center = screen.commands
            if center is None:
                screen.notice(f"/{command.meta.name} needs a conversation", "warning")
                return
            try:
                result = await center.run_local(command, parts[1])
            except AgentError as error:
                screen.notice(str(error), "warning")
                return
            await act_on(result, screen)
        case _:
            assert_never(command.type)


async def open_panel(name: str, argument: str, screen: CommandScreen) -> None:
    """Open a panel and return once it is closed."""
    from tui.panels import PANELS  # with the first panel

    module = cast(PanelModule, import_module(PANELS[name]))
    await module.open_panel(screen, argument)


async def act_on(result: CommandResult, screen: CommandScreen) -> None:
    """Do what a local command asks for."""
    from agent.commands import results

    match result:
        case results.ShowText(text, level):
            screen.notice(text, level)
        case results.Leave():
            screen.leave()
        case results.ClearConversation():
            await screen.restart(None)
        case results.Compact(focus):
            screen.compact(focus)
        case results.CopyText(text, said):
            screen.copy_to_clipboard(text)
            screen.hint(said)
        case results.EditFile(path, said):
            screen.edit_file(path)
            if said:
                screen.hint(said)
        case results.SendPrompt(text):
            screen.send(text)
        case results.OpenPanel(panel, argument):
            await open_panel(panel, argument, screen)
        case _:
            assert_never(result)


def _send_or_ask(text: str, name: str, screen: CommandScreen) -> None:
    """Send it, unless it is one word that is almost the name of a command."""
    nearest = screen.registry.nearest(name) if name and len(text.split()) == 1 else None
    if nearest is None:
        screen.send(text)
        return
    screen.notice(f"There is no command /{name}. Did you mean /{nearest}?", "warning")
    screen.composer.edit(lambda buffer: buffer.set_text(text))
