"""The screen as commands and panels use it, in lines: panels are read out and answered."""

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
        """Start empty."""
        self._buffer = TextBuffer()

    def edit(self, change: Callable[[TextBuffer], None]) -> None:
        """Change the text."""
        change(self._buffer)

    def take(self) -> str:
        """Return the text and forget it."""
        text, self._buffer = self._buffer.text, TextBuffer()
        return text


class LineSession:
    """The conversation; what commands send waits until they have ended."""

    def __init__(self, run: LineRun) -> None:
        """Take the run."""
        self._run = run
        self.prompts: list[str] = []
        self.compactions: list[AsyncIterator[AgentEvent]] = []

    @property
    def conversation(self) -> ConversationPort | None:
        """The conversation."""
        return self._run.conversation

    @property
    def commands(self) -> CommandService | None:
        """What the conversation's commands need."""
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
        """Report how much is left of the conversation."""
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
    """Nothing is colored, and every call is one line; settings are for the drawn screen."""

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
        """Return that every call is one line already."""
        return True


class LineWorkspace:
    """Directory, settings and clipboard; the editor and the window are the user's own."""

    def __init__(
        self, directory: Path, session: LineSession, notice: Callable[[str, str], None]
    ) -> None:
        """`notice` writes a line of a level."""
        self.directory = directory
        self._session = session
        self._notice = notice

    def display_path(self, path: Path) -> str:
        """Return a directory as users write it."""
        return str(path)

    async def save_setting(self, key: str, value: object) -> None:
        """Write one of the user's own settings."""
        center = self._session.commands
        if center is None:
            return
        from tui.app.save_setting import save_setting  # with the first setting that is written

        if problem := await save_setting(center.context.agent_home, key, value):
            self._notice(problem, "warning")

    def edit_file(self, path: Path) -> None:
        """Name the file: what an editor draws is the user's choice."""
        self._notice(f"open this file in your editor: {path}", "info")

    def copy_to_clipboard(self, text: str) -> None:
        """Hand text to the terminal's clipboard."""
        if sys.stdout.isatty():
            sys.stdout.write(
                CLIPBOARD.format(base64.b64encode(text.encode("utf-8", "replace")).decode())
            )
            sys.stdout.flush()

    def name_window(self, title: str) -> None:
        """Leave the window's title as it is."""

    def output_line(self) -> str:
        """Return no figures of the output: lines are written once."""
        return ""


class LineKeys:
    """Keys do nothing here; help shows those of the drawn screen."""

    action_ids: frozenset[str] = frozenset()

    @property
    def keymap(self) -> Keymap:
        """The keys of the drawn screen."""
        # It takes key names from the screen's library, which nothing else here loads.
        from tui.input.keymap import default_keymap

        return default_keymap()


class LineScreen:
    """Implements `CommandScreen`."""

    def __init__(self, run: LineRun, directory: Path) -> None:
        """Take the run."""
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
        """Return the prompts that commands send, and forget them."""
        prompts, self.session.prompts = self.session.prompts, []
        return prompts

    def notice(self, text: str, level: str = "info") -> None:
        """Write a line."""
        self._run.notice(text, level)

    def hint(self, text: str) -> None:
        """Write what the status line would show."""
        self._run.notice(text)

    async def show_dialog(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        """Read out a panel and return its answer."""
        return await self._run.dialogs.ask(dialog)


if TYPE_CHECKING:

    def _proof(screen: LineScreen) -> CommandScreen:
        return screen
