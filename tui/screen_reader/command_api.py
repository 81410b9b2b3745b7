"""The screen as commands and panels know it, in lines: panels are said and answered."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from tui.commands import run_command
from tui.editing.buffer import TextBuffer
from tui.ports.command_screen import AnswerT, AsksFor, CommandScreen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.commands.registry import CommandRegistry
    from agent.commands.service import CommandService
    from agent.events import AgentEvent
    from agent.history import HistoryPart
    from agent.messages import Message
    from themes.theme import Role, Theme
    from tui.input.keymap import Keymap
    from tui.ports.conversation import ConversationPort
    from tui.screen_reader.dialogs import Asker
    from tui.screen_reader.line_output import Voice

CLIPBOARD: Final = "\x1b]52;c;{}\x1b\\"


class Talk(Protocol):
    """The run that the screen belongs to."""

    voice: Voice
    asker: Asker
    conversation: ConversationPort | None

    def notice(self, text: str, level: str = "info") -> None: ...
    def leave(self) -> None: ...
    async def say_events(self, events: AsyncIterator[AgentEvent]) -> None: ...
    async def restart(self, session_id: str | None) -> None: ...


class Field:
    """Where commands put text for the user to go on with."""

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


class FlatScreen:
    """Implements `CommandScreen`."""

    def __init__(self, talk: Talk, folder: Path) -> None:
        """Take the run."""
        self.composer = Field()
        self.folder = folder
        self._talk = talk
        self._prompts: list[str] = []
        self._after: list[AsyncIterator[AgentEvent]] = []

    async def run_command(self, text: str) -> None:
        """Do what a line that begins with a slash asks for."""
        await run_command(text, self)
        for events in self._after:
            await self._talk.say_events(events)
        self._after.clear()
        left = self.composer.take()
        if left:
            self._talk.notice(f"type on from here: {left}")

    def take_prompts(self) -> list[str]:
        """Return what commands want to be sent, and forget it."""
        prompts, self._prompts = self._prompts, []
        return prompts

    @property
    def conversation(self) -> ConversationPort | None:
        """The conversation."""
        return self._talk.conversation

    @property
    def commands(self) -> CommandService | None:
        """What the conversation's commands need."""
        return self.conversation.commands if self.conversation is not None else None

    @property
    def registry(self) -> CommandRegistry:
        """The commands that can be typed now."""
        assert self.commands is not None
        return self.commands.registry

    @property
    def action_ids(self) -> frozenset[str]:
        """Keys do nothing here."""
        return frozenset()

    @property
    def keymap(self) -> Keymap:
        """The keys of the drawn screen."""
        # It takes key names from the screen's library, which nothing else here loads.
        from tui.input.keymap import default_keymap

        return default_keymap()

    @property
    def theme_name(self) -> str:
        """Nothing is coloured."""
        return "none"

    @property
    def themes_dir(self) -> tuple[Path, ...]:
        """Nothing is coloured."""
        return ()

    def notice(self, text: str, level: str = "info") -> None:
        """Say a line."""
        self._talk.notice(text, level)

    def output_line(self) -> str:
        """Return what output costs: nothing worth telling, lines are written once."""
        return ""

    def hint(self, text: str) -> None:
        """Say what the status line would."""
        self._talk.notice(text)

    def name_window(self, title: str) -> None:
        """The window's title stays the terminal's own."""

    def leave(self) -> None:
        """End the program."""
        self._talk.leave()

    def send(self, text: str) -> None:
        """Send a prompt once the command has ended."""
        self._prompts.append(text)

    def compact(self, focus: str, part: HistoryPart | None = None) -> None:
        """Summarise the history, or a part of it, once the command has ended."""
        if self.conversation is not None:
            self._after.append(self.conversation.compact(focus, part))

    def copy_to_clipboard(self, text: str) -> None:
        """Hand text to the terminal's clipboard."""
        if sys.stdout.isatty():
            sys.stdout.write(
                CLIPBOARD.format(base64.b64encode(text.encode("utf-8", "replace")).decode())
            )
            sys.stdout.flush()

    def edit_file(self, path: Path) -> None:
        """Say where the file is: what an editor draws is the user's choice."""
        self._talk.notice(f"open this file in your editor: {path}")

    @property
    def wanted_theme(self) -> str:
        """Nothing is coloured."""
        return "none"

    def toggle_focus(self) -> bool:
        """Every call is one line already."""
        return True

    def colour_prompt(self, role: Role) -> None:
        """Nothing is coloured."""

    def choose_theme(self, name: str) -> None:
        """Nothing is coloured; the drawn screen will be."""

    @property
    def colours_code(self) -> bool:
        """Nothing is coloured."""
        return False

    def colour_code(self, is_on: bool) -> None:
        """Nothing is coloured; the drawn screen will be."""

    def use_theme(self, theme: Theme) -> None:
        """Nothing is coloured."""

    async def keep_setting(self, key: str, value: object) -> None:
        """Write one of the user's own settings."""
        center = self.commands
        if center is None:
            return
        from agent.errors import AgentError  # with the first setting that is kept
        from agent.settings.change import set_value

        file = center.context.agent_home / "settings.json"
        try:
            await asyncio.to_thread(set_value, file, key, value)
        except (AgentError, OSError) as error:
            self._talk.notice(f"not kept: {error}", "warning")

    def display_path(self, path: Path) -> str:
        """Return a folder as users write it."""
        return str(path)

    def show_history(self, messages: Sequence[Message]) -> None:
        """Say how much is left of the conversation."""
        count = sum(1 for message in messages if message.origin == "person")
        self._talk.notice(f"the conversation has {count} prompts now")

    async def show_dialog(self, dialog: AsksFor[AnswerT]) -> AnswerT:
        """Say a panel and return its answer."""
        return await self._talk.asker.ask(dialog)

    async def restart(self, session_id: str | None) -> None:
        """Leave this conversation for another session, or a new one."""
        await self._talk.restart(session_id)


if TYPE_CHECKING:

    def _proof(screen: FlatScreen) -> CommandScreen:
        return screen
