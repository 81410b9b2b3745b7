"""The commands of one conversation, in the foreground and background; ends them all."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.tools.shell.shell_output import ShellOutput
from agent.tools.shell.shell_process import ConfineCommand, ShellProcess

SHOWN_CHARS: Final = 80
"""Length to which commands are cut in messages."""


class ShellRegistry:
    """Owns every command that it starts: `kill_all` leaves no process behind."""

    def __init__(self) -> None:
        """Start with no commands."""
        self._count = 0
        self._foreground: dict[str, ShellProcess] = {}
        self._background: dict[str, ShellProcess] = {}
        self._followers: dict[str, asyncio.Task[None]] = {}
        self._report_queue: list[ShellProcess] = []
        self.on_change: Callable[[], None] | None = None
        """Called after a command went to the background, or ended there."""
        self.on_end: Callable[[ShellProcess], None] | None = None
        """Called when a command in the background ended by itself; reports it to the user."""
        self._cut_off: tuple[ShellProcess, ...] = ()

    async def start(
        self,
        command: str,
        *,
        cwd: Path,
        env: Mapping[str, str],
        results_dir: Path,
        env_files: Sequence[Path] = (),
        live: Callable[[str], None] | None = None,
        scratch_dir: Path | None = None,
        confine: ConfineCommand | None = None,
    ) -> ShellProcess:
        """Start a command in the foreground; the caller waits for it, then calls `release`.

        Raises:
            ShellError: it could not be started.
        """
        self._count += 1
        shell_id = f"bash_{self._count}"
        with contextlib.suppress(OSError):
            results_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        output = ShellOutput(_unused_path(results_dir, shell_id))
        shell = await ShellProcess.start(
            shell_id,
            command,
            cwd=cwd,
            env=env,
            output=output,
            private_dir=results_dir,
            env_files=env_files,
            live=live,
            scratch_dir=scratch_dir,
            confine=confine,
        )
        self._foreground[shell_id] = shell
        return shell

    def release(self, shell: ShellProcess) -> None:
        """Forget a foreground command that has ended."""
        self._foreground.pop(shell.id, None)

    def to_background(self, shell: ShellProcess) -> None:
        """Let a command continue in the background; from now on its output goes to a file."""
        shell.detach()
        shell.output.start_file()
        self._foreground.pop(shell.id, None)
        self._background[shell.id] = shell
        self._followers[shell.id] = asyncio.ensure_future(self._follow(shell))
        self._notify_change()

    @property
    def running_count(self) -> int:
        """How many commands run in the background."""
        return sum(shell.is_running for shell in self._background.values())

    @property
    def has_foreground(self) -> bool:
        """Whether a command runs that could be sent to the background."""
        return any(not shell.is_for_agent for shell in self._foreground.values())

    def send_to_background(self) -> bool:
        """Ask the conversation's commands to continue in the background; False when none runs.

        Commands of agents are not affected: they stay with their agent.
        """
        was_waited_for = self.has_foreground
        for shell in self._foreground.values():
            if not shell.is_for_agent:
                shell.to_background.set()
        return was_waited_for

    def get(self, shell_id: str) -> ShellProcess | None:
        """Return a command sent to the background, running or ended."""
        return self._background.get(shell_id)

    def all(self) -> tuple[ShellProcess, ...]:
        """Return the commands sent to the background, oldest first, ended ones included."""
        return tuple(self._background.values())

    def take_finished(self) -> tuple[ShellProcess, ...]:
        """Return background commands that ended by themselves and were not returned before."""
        shells, self._report_queue = tuple(self._report_queue), []
        return shells

    async def kill_all(self) -> None:
        """End all running commands and wait for them."""
        self._cut_off = tuple(s for s in self._background.values() if s.is_running)
        shells = [*self._foreground.values(), *self._background.values()]
        await asyncio.gather(*(shell.stop() for shell in shells))
        for follower in self._followers.values():
            follower.cancel()
        await asyncio.gather(*self._followers.values(), return_exceptions=True)
        self._followers.clear()
        self._foreground.clear()

    def closing_notice(self) -> tuple[str, ...]:
        """Return a line that names the background commands `kill_all` ended; empty if none."""
        if not self._cut_off:
            return ()
        commands = ", ".join(in_short(shell.command) for shell in self._cut_off)
        return (f"ended with the conversation, in the background: {commands}",)

    def kill_now(self) -> None:
        """Send KILL to everything without waiting; for use when the program is about to exit."""
        for shell in (*self._foreground.values(), *self._background.values()):
            shell.kill_now()

    async def _follow(self, shell: ShellProcess) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await shell.wait()
            if shell.is_running:
                await shell.follow_leftovers()
            if not shell.was_stopped:
                self._report_queue.append(shell)
                if self.on_end is not None:
                    self.on_end(shell)
            self._notify_change()

    def _notify_change(self) -> None:
        if self.on_change is not None:
            self.on_change()


def end_line(shell: ShellProcess) -> str:
    """Return the line for users about a background command that has ended."""
    return f"Background command finished (exit {shell.exit_code}): {in_short(shell.command)}"


def in_short(command: str) -> str:
    """Return the beginning of a command in one line, for users."""
    line = " ".join(command.split())
    return line if len(line) <= SHOWN_CHARS else f"{line[: SHOWN_CHARS - 1]}…"


def _unused_path(directory: Path, name: str) -> Path:
    """Return an unused path: a resumed session still has the files of its earlier runs."""
    number = 1
    path = directory / f"{name}.txt"
    while os.path.exists(path):
        number += 1
        path = directory / f"{name}-{number}.txt"
    return path
