"""What a line that the user sends means: a command, a shell command, or a prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from tui.app.session.bang_commands import BangCommands
from tui.app.session.conversation_holder import ConversationHolder
from tui.commands import run_command
from tui.ports.command_screen import CommandScreen

AT_ANY_TIME: Final = frozenset({"help", "theme", "exit", "quit"})
"""Commands that need no conversation."""


class Submission:
    """Sends lines to what runs them."""

    def __init__(
        self,
        screen: CommandScreen,
        conversations: ConversationHolder,
        bang_commands: BangCommands,
        show: Callable[[], None],
        start_worker: Callable[[Awaitable[None]], None],
        start_command: Callable[[Awaitable[None]], None],
    ) -> None:
        """`show` shows the document after a command; `start_command` starts what may ask."""
        self._screen = screen
        self._conversations = conversations
        self._bang_commands = bang_commands
        self._show = show
        self._start_worker = start_worker
        self._start_command = start_command

    def submit(self, text: str) -> None:
        """Send a prompt, or run a command."""
        if text.startswith("/"):
            self._start_command(self._run_command(text))
        elif text.startswith("!"):
            self._start_worker(self._bang_commands.run(text[1:].strip()))
        else:
            self._screen.session.send(text)

    async def _run_command(self, text: str) -> None:
        name = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
        if name not in AT_ANY_TIME:
            await self._conversations.wait()
        await run_command(text, self._screen)
        self._show()
