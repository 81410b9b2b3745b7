"""A shell command typed after `!`: runs at once, shows its output, and makes a note for the model.

It needs no permission, because it is the user's own command. It runs like the model's commands, so
it can continue in the background and leaves no processes behind.
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
"""Maximum length of output that waits to be shown; of longer output only the end is kept."""


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
        """Prepare a command, which `events` starts.

        `files` is the directory for output that is too long for the session, and for shell state.
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
        """Whether the user killed it."""
        self.background_id = ""
        """The id with which it continues in the background; "" if it does not."""

    @property
    def final_cwd(self) -> Path | None:
        """The shell's last working directory; None if unknown."""
        return self._shell.final_cwd if self._shell is not None else None

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Run the command and yield the events of its card; the last one is its only result."""
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
            # It was killed before the process existed.
            shell.kill_now()
        try:
            async for text in self._texts(shell):
                yield ToolProgress(USER_SHELL, self._key, text)
        finally:
            self._release_shell(shell)
        self.exit_code = shell.exit_code
        self.output = shell.output.text()
        yield self._result(identifier, shell.elapsed_s)

    def kill(self) -> None:
        """Kill the command and all processes that it started."""
        self.was_killed = True
        if self._shell is not None:
            self._shell.kill_now()

    def note(self, remark: str = "") -> str:
        """Return command and output as a note for the model, with an optional remark."""
        if self.background_id:
            remark = f"It continues in the background as {self.background_id}."
        elif self.was_killed:
            remark = "The user ended it."
        suffix = f"\n[{remark}]" if remark else ""
        exit_code = 0 if self.background_id else self.exit_code
        return note_of(self.command, self.output + suffix, exit_code)

    async def _texts(self, shell: ShellProcess) -> AsyncIterator[str]:
        """Yield its output until it has ended, or continues in the background."""
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

    def _release_shell(self, shell: ShellProcess) -> None:
        """Release an ended shell, keep one that was moved to the background, kill any other."""
        if shell.to_background.is_set() and shell.is_running and not self.was_killed:
            self._shells.to_background(shell)
            self.background_id = shell.id
        elif shell.leftovers and not self.was_killed:
            # The shell has ended; processes that it started with `&` continue in /tasks.
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
