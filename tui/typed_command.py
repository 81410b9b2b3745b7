"""`!`: runs the person's own commands, shows their output, and tells the model of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.events import AgentEvent
    from tui.shell_command import ShellCommand


class TypedCommands:
    """The commands that run, newest last."""

    def __init__(
        self,
        take: Callable[[AgentEvent], Awaitable[None]],
        on_start: Callable[[str], None],
        on_end: Callable[[str], None],
    ) -> None:
        """`on_start` hears of the command; `on_end` gets the note that the model is sent.

        A command that the person ended is not told: nothing goes out after an Esc.
        """
        self._take = take
        self._on_start = on_start
        self._on_end = on_end
        self._running: list[ShellCommand] = []

    async def run(self, command: str, folder: Path, env: Mapping[str, str]) -> None:
        """Run a command to its end."""
        from agent.messages import new_uid  # both rarely used: not for the first frame
        from tui.shell_command import ShellCommand

        shell = ShellCommand(command, folder, env, new_uid())
        self._running.append(shell)
        self._on_start(command)
        try:
            async for event in shell.events():
                await self._take(event)
        finally:
            self._running.remove(shell)
        if not shell.was_killed:
            self._on_end(shell.note())

    def kill_latest(self) -> bool:
        """End the command started last; False when none runs."""
        if not self._running:
            return False
        self._running[-1].kill()
        return True
