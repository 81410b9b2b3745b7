"""Stops all background commands on the second press of a key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from agent.tools.shell.shell_process import ShellProcess

AGAIN_S: Final = 3.0
"""How long after the first press a second one stops the commands."""
_NONE: Final = "No background commands."


class BackgroundStop:
    """Asks for confirmation by a second press."""

    def __init__(
        self,
        command_service: Callable[[], CommandService | None],
        hint: Callable[[str], None],
        start_worker: Callable[[Awaitable[None]], None],
        key: Callable[[], str],
        mover: Callable[[], str],
        clock: Callable[[], float],
    ) -> None:
        """`key` returns the name of its key, `mover` that of the move to the background."""
        self._command_service = command_service
        self._hint = hint
        self._start_worker = start_worker
        self._key = key
        self._mover = mover
        self._clock = clock
        self._until_s = float("-inf")

    def press(self) -> None:
        """Request a second press; stop everything on the second press."""
        command_service = self._command_service()
        shells = command_service.context.shells.all() if command_service is not None else ()
        running = [shell for shell in shells if shell.is_running]
        if not running:
            key = self._mover()
            self._hint(f"No background commands. {key} moves a running one here." if key else _NONE)
        elif self._clock() > self._until_s:
            self._until_s = self._clock() + AGAIN_S
            key = self._key() or "the key"
            self._hint(f"press {key} again to stop {_commands(running)}")
        else:
            self._until_s = float("-inf")
            self._start_worker(self._stop(running))

    async def _stop(self, running: Sequence[ShellProcess]) -> None:
        await asyncio.gather(*(shell.stop() for shell in running))
        self._hint(f"stopped {_commands(running)}")


def _commands(shells: Sequence[ShellProcess]) -> str:
    return f"{len(shells)} background command{'s' if len(shells) != 1 else ''}"
