"""Hook events outside of calls: loaded instructions, a new shell directory, watched files.

Also adds the instruction files that apply to a path in use, right after the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.hook_events.hook_dispatch import HookDispatch
from agent.hook_events.path_instructions import PathInstructions
from agent.messages import ToolUse
from agent.prompt.instruction_files import InstructionFile, Instructions
from agent.tools.call import CallOutcome
from hooks.config.watched_files import FileWatch, static_names
from hooks.events import FileChanged


class HookSources:
    """Watches the files and the shell directory of one conversation and fires their events."""

    def __init__(
        self,
        hooks: HookDispatch,
        instructions: Instructions,
        at_start: Sequence[InstructionFile],
        cwd: Callable[[], Path],
    ) -> None:
        """`at_start` was loaded before any hook could run; `cwd` is the shell's."""
        self._hooks = hooks
        self._instructions = PathInstructions(hooks, instructions, cwd)
        self._at_start = tuple(at_start)
        self._cwd = cwd
        self._known_cwd = cwd()
        self._watch = FileWatch(self._file_changed)
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Fire for the instruction files loaded at startup, and watch the files that matchers
        name."""
        await self._fire_loaded(self._at_start)
        self._hooks.runner.on_config.append(self._watch_names)
        self._watch_names()

    async def after_calls(self, outcomes: Sequence[tuple[ToolUse, CallOutcome]]) -> list[str]:
        """Return notes for the model after these calls; usually none."""
        await self._fire_cwd_change()
        return await self._instructions.after_calls(outcomes)

    async def aclose(self) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None

    async def _fire_loaded(
        self, files: Sequence[InstructionFile], trigger: str | None = None
    ) -> None:
        for file in files:
            await self._hooks.instructions_loaded(file, trigger)

    async def _fire_cwd_change(self) -> None:
        old, new = self._known_cwd, self._cwd()
        if old == new:
            return
        self._known_cwd = new
        self._watch_names()
        await self._hooks.cwd_changed(str(old), str(new))

    async def _file_changed(self, payload: FileChanged) -> None:
        await self._hooks.file_changed(payload)

    def _watch_names(self) -> None:
        """Watch the file names of the current matchers, relative to the shell's directory."""
        self._watch.set_static(static_names(self._hooks.runner.config), self._cwd())
        self._run_watch()

    def watch_paths(self, paths: Sequence[str]) -> None:
        """Watch the files that a hook names, replacing those of the previous hook."""
        self._watch.set_dynamic(paths, self._cwd())
        self._run_watch()

    def _run_watch(self) -> None:
        if self._watching is None and self._watch.paths:
            self._watching = asyncio.ensure_future(self._follow())

    async def _follow(self) -> None:
        try:
            await self._watch.run()
        except Exception as error:  # noqa: BLE001 - isolation boundary: the conversation continues
            self._hooks.firing.warn(f"Files are no longer watched for hooks: {error}")
