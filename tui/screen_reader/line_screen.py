"""Implements the port of commands and panels (`CommandScreen`) in the screen reader mode."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from permissions.base.text.count_text import count_text
from tui.commands import run_command
from tui.dialogs.dialog import AnsweredDialog, AnswerT
from tui.editing.text_buffer import TextBuffer
from tui.ports.command_screen import CommandScreen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.commands.command_registry import CommandRegistry
    from agent.commands.service import CommandService
    from agent.events import AgentEvent
    from agent.history import HistoryPart
    from agent.messages import Message
    from themes.theme import Role, Theme
    from tui.input.keymap import Keymap
    from tui.ports.conversation import ConversationPort
    from tui.screen_reader.dialogs import LineDialogs
    from tui.screen_reader.line_output import LineOutput

CLIPBOARD: Final = "\x1b]52;c;{}\x1b\\"


class LineRun(Protocol):
    """The run that the screen belongs to."""

    output: LineOutput
    dialogs: LineDialogs
    conversation: ConversationPort | None

    def notice(self, text: str, level: str = "info") -> None: ...
    def leave(self) -> None: ...
    async def write_events(self, events: AsyncIterator[AgentEvent]) -> None: ...
    async def restart(self, session_id: str | None, *, team: str | None = None) -> None: ...


class PromptText:
    """Where commands put text for the user to edit."""

    def __init__(self) -> None:
        """Start with an empty text."""
        self._buffer = TextBuffer()

    def edit(self, change: Callable[[TextBuffer], None]) -> None:
        """Apply `change` to the text."""
        change(self._buffer)

    def take(self) -> str:
        """Return the text and clear it."""
        text, self._buffer = self._buffer.text, TextBuffer()
        return text


class LineSession:
    """The conversation; prompts that a command sends wait until it has ended."""

    def __init__(self, run: LineRun) -> None:
        """`run` has the conversation."""
        self._run = run
        self.prompts: list[str] = []
        self.compactions: list[AsyncIterator[AgentEvent]] = []

    @property
    def conversation(self) -> ConversationPort | None:
        """The conversation; None until it is made."""
        return self._run.conversation

    @property
    def commands(self) -> CommandService | None:
        """The conversation's command service; None without a conversation."""
        return self.conversation.commands if self.conversation is not None else None

    @property
    def registry(self) -> CommandRegistry:
        """The commands that can be typed now."""
        assert self.commands is not None
        return self.commands.registry

    def send(self, text: str) -> None:
        """Send a prompt once the command has ended."""
        self.prompts.append(text)

    def compact(self, focus: str, part: HistoryPart | None = None) -> None:
        """Summarize the history, or a part of it, once the command has ended."""
        if self.conversation is not None:
            self.compactions.append(self.conversation.controls.compact(focus, part))

    def show_history(self, messages: Sequence[Message]) -> None:
        """Report how many prompts the conversation has."""
        count = sum(1 for message in messages if message.origin == "person")
        self._run.notice(f"the conversation has {count_text(count, 'prompt')} now")

    async def restart(self, session_id: str | None, *, team: str | None = None) -> bool:
        """Leave this conversation for another session, or a new one.

        `team`: see `tui.ports.conversation.Release`.
        """
        await self._run.restart(session_id, team=team)
        return True

    def leave(self) -> None:
        """End the program."""
        self._run.leave()


class LineAppearance:
    """Colors and detail do not exist in lines: every method does nothing."""

    themes_dir: tuple[Path, ...] = ()
    wanted_theme = "none"
    colors_code = False

    def choose_theme(self, name: str) -> None:
        """Change nothing."""

    def use_theme(self, theme: Theme) -> None:
        """Change nothing."""

    def color_code(self, is_on: bool) -> None:
        """Change nothing."""

    def color_prompt(self, role: Role) -> None:
        """Change nothing."""

    def toggle_focus(self) -> bool:
        """Return True: every call is one line already."""
        return True


class LineWorkspace:
    """Directory, settings and clipboard; no editor is opened and the window is unchanged."""

    def __init__(
        self, directory: Path, session: LineSession, notice: Callable[[str, str], None]
    ) -> None:
        """`notice` writes a text with a level ("info" or "warning")."""
        self.directory = directory
        self._session = session
        self._notice = notice

    def display_path(self, path: Path) -> str:
        """Return a path as it is shown to users."""
        return str(path)

    async def save_setting(self, key: str, value: object) -> None:
        """Write one of the user's settings."""
        command_service = self._session.commands
        if command_service is None:
            return
        from tui.app.save_setting import save_setting  # imported with the first change

        if problem := await save_setting(command_service.context.agent_home, key, value):
            self._notice(problem, "warning")

    def edit_file(self, path: Path) -> None:
        """Ask the user to open the file: an editor would draw on the screen."""
        self._notice(f"open this file in your editor: {path}", "info")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy text to the clipboard through the terminal (OSC 52)."""
        if sys.stdout.isatty():
            sys.stdout.write(
                CLIPBOARD.format(base64.b64encode(text.encode("utf-8", "replace")).decode())
            )
            sys.stdout.flush()

    def name_window(self, title: str) -> None:
        """Do nothing: the window's title is unchanged."""

    def output_line(self) -> str:
        """Return "": there are no figures about the output."""
        return ""


class LineKeys:
    """Keys do nothing in lines; help shows those of the drawn screen."""

    action_ids: frozenset[str] = frozenset()

    @property
    def keymap(self) -> Keymap:
        """The keys of the drawn screen."""
        # It imports key names from the screen's library, which nothing else here needs.
        from tui.input.keymap import default_keymap

        return default_keymap()


class LineScreen:
    """Implements `CommandScreen`."""

    def __init__(self, run: LineRun, directory: Path) -> None:
        """`directory` is the working directory."""
        self._run = run
        self.session = LineSession(run)
        self.appearance = LineAppearance()
        self.workspace = LineWorkspace(directory, self.session, run.notice)
        self.keys = LineKeys()
        self.composer = PromptText()

    async def run_command(self, text: str) -> None:
        """Run the command of a line that begins with a slash."""
        await run_command(text, self)
        for events in self.session.compactions:
            await self._run.write_events(events)
        self.session.compactions.clear()
        draft = self.composer.take()
        if draft:
            self._run.notice(f"continue typing here: {draft}")

    def take_prompts(self) -> list[str]:
        """Return the prompts that commands have sent, and clear them."""
        prompts, self.session.prompts = self.session.prompts, []
        return prompts

    def notice(self, text: str, level: str = "info") -> None:
        """Write a line."""
        self._run.notice(text, level)

    def hint(self, text: str) -> None:
        """Write a hint, which the drawn screen shows in its status line."""
        self._run.notice(text)

    async def show_dialog(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        """Read out a panel and return its answer."""
        return await self._run.dialogs.ask(dialog)


if TYPE_CHECKING:

    def _check_protocol(screen: LineScreen) -> CommandScreen:
        return screen
