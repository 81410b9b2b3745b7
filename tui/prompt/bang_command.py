"""A command the user typed after `!`: it runs at once, shows its output, and the model gets a note.

The user is not asked: it is the user's own command, with the user's own rights. It runs as the
model's commands do, so that it can continue in the background and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

from agent.display import CommandDisplay
from agent.events import AgentEvent, ToolDispatch, ToolProgress, ToolResult
from agent.prompt.shell_command_note import note_of
from agent.tools.shell.shell_process import ShellError, ShellProcess, command_environment
from agent.tools.shell.shells import ShellRegistry
from tui.transcript.blocks import USER_SHELL

PENDING_CHARS: Final = 30_000
"""Output that waits to be shown is cut to its end when it is longer."""


class ShellCommand:
    """One run of a command."""

    def __init__(
        self,
        command: str,
        cwd: Path,
        env: Mapping[str, str],
        key: str,
        *,
        shells: ShellRegistry,
        files: Path,
    ) -> None:
        """Take what to run and where; nothing starts before `events`.

        `files` is where output that is too long to store goes, and what the shell leaves behind.
        """
        self.command = command
        self.output = ""
        self.exit_code: int | None = None
        self._cwd = cwd
        self._env = command_environment(env, cwd=cwd, scratch_dir=files)
        self._key = key
        self._shells = shells
        self._files = files
        self._shell: ShellProcess | None = None
        self._pending = ""
        self._news = asyncio.Event()
        self.was_killed = False
        """Whether the user ended it."""
        self.background_id = ""
        """Under which name it continues in the background; empty when it does not."""

    @property
    def final_cwd(self) -> Path | None:
        """Where the shell was at its end; None when that is unknown."""
        return self._shell.final_cwd if self._shell is not None else None

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Run it and yield the events of its card; ends with exactly one result."""
        identifier = f"Bash {self.command}"
        yield ToolDispatch(USER_SHELL, self._key, "Bash", {"command": self.command}, identifier)
        try:
            shell = self._shell = await self._shells.start(
                self.command,
                cwd=self._cwd,
                env=self._env,
                results_dir=self._files,
                live=self._on_text,
            )
        except ShellError as error:
            self.output = str(error)
            yield self._result(identifier, 0.0)
            return
        if self.was_killed:
            # Before there was anything to end.
            shell.kill_now()
        try:
            async for text in self._texts(shell):
                yield ToolProgress(USER_SHELL, self._key, text)
        finally:
            self._part_with(shell)
        self.exit_code = shell.exit_code
        self.output = shell.output.text()
        yield self._result(identifier, shell.elapsed_s)

    def kill(self) -> None:
        """End it and everything it started."""
        self.was_killed = True
        if self._shell is not None:
            self._shell.kill_now()

    def note(self, remark: str = "") -> str:
        """Return command and output as the model gets them, with a remark of ours."""
        if self.background_id:
            remark = f"It continues in the background as {self.background_id}."
        elif self.was_killed:
            remark = "The user ended it."
        suffix = f"\n[{remark}]" if remark else ""
        exit_code = 0 if self.background_id else self.exit_code
        return note_of(self.command, self.output + suffix, exit_code)

    async def _texts(self, shell: ShellProcess) -> AsyncIterator[str]:
        """Yield what it prints until it has ended, or continues in the background."""
        end_task = asyncio.ensure_future(shell.wait())
        move_task = asyncio.ensure_future(shell.to_background.wait())
        for task in (end_task, move_task):
            task.add_done_callback(lambda _: self._news.set())
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                text, self._pending = self._pending, ""
                if text:
                    yield text
                elif end_task.done() or move_task.done():
                    return
                if end_task.done() or move_task.done():
                    self._news.set()
        finally:
            for task in (end_task, move_task):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _on_text(self, text: str) -> None:
        self._pending = (self._pending + text)[-PENDING_CHARS:]
        self._news.set()

    def _part_with(self, shell: ShellProcess) -> None:
        """Let go of what has ended, let what was sent away continue, and end anything else."""
        if shell.to_background.is_set() and shell.is_running and not self.was_killed:
            self._shells.to_background(shell)
            self.background_id = shell.id
        elif shell.leftovers and not self.was_killed:
            # The shell is done; what it started with `&` continues, and /tasks shows it.
            self._shells.to_background(shell)
        else:
            shell.kill_now()
            self._shells.release(shell)

    def _result(self, identifier: str, elapsed_s: float) -> ToolResult:
        is_error = not self.background_id and self.exit_code != 0
        display = CommandDisplay(
            self.command, self.output, self.exit_code, background_id=self.background_id or None
        )
        return ToolResult(
            USER_SHELL,
            self._key,
            "Bash",
            self.output or f"exit status {self.exit_code}",
            is_error,
            elapsed_s,
            "interrupted" if self.was_killed else "failed" if is_error else "ok",
            identifier,
            display,
        )
