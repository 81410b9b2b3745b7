"""Handles submitted text: a command, a shell command, or a prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from tui.app.session.bang_commands import BangCommands
from tui.app.session.conversation_holder import ConversationHolder
from tui.app.session.prompt_runner import PromptRunner
from tui.commands import run_command
from tui.ports.command_screen import CommandScreen

_AT_ANY_TIME: Final = frozenset({"help", "theme"})
"""Commands that need no conversation."""
_LEAVING: Final = frozenset({"exit", "quit"})


class Submission:
    """Passes submitted text to the part that runs it."""

    def __init__(
        self,
        screen: CommandScreen,
        conversations: ConversationHolder,
        runner: PromptRunner,
        bang_commands: BangCommands,
        show: Callable[[], None],
        start_worker: Callable[[Awaitable[None]], None],
        start_command: Callable[[Awaitable[None]], None],
    ) -> None:
        """`show` shows the document after a command; `start_command` runs one with dialogs."""
        self._screen = screen
        self._conversations = conversations
        self._runner = runner
        self._bang_commands = bang_commands
        self._show = show
        self._start_worker = start_worker
        self._start_command = start_command
        self._early: list[str] = []
        """A command that was sent before the conversation existed, and the texts after it."""

    def submit(self, text: str) -> None:
        """Send a prompt or run a command; without a conversation, later and in the same order."""
        name = _command_name(text)
        if self._conversations.current is not None or name in _AT_ANY_TIME:
            self._perform(text)
        elif self._early:
            self._early.append(text)
        elif name in _LEAVING and not self._runner.waiting_prompts:
            self._screen.session.leave()
        elif name is not None:
            self._early.append(text)
            self._start_command(self._perform_early())
        else:
            self._perform(text)

    def _perform(self, text: str) -> None:
        if text.startswith("/"):
            self._start_command(self._run_command(text))
        elif text.startswith("!"):
            self._start_worker(self._bang_commands.run(text[1:].strip()))
        else:
            self._screen.session.send(text)

    async def _perform_early(self) -> None:
        await self._conversations.wait()
        early, self._early = self._early, []
        for text in early:
            if text.startswith("/"):
                await self._run_command(text)
            else:
                self._perform(text)

    async def _run_command(self, text: str) -> None:
        await run_command(text, self._screen)
        self._show()


def _command_name(text: str) -> str | None:
    """Return the word after the slash of a command line; None for any other line."""
    return next(iter(text[1:].split(maxsplit=1)), "") if text.startswith("/") else None
