"""Instruction files that a path in use brings in, sent to the model right after the call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.hook_events.hook_dispatch import HookDispatch
from agent.messages import ToolUse
from agent.prompt.instruction_files import InstructionFile, Instructions, render
from agent.prompt.system import note
from agent.tools.call import CallOutcome

FILE_TOOLS: Final = frozenset({"Read", "Edit", "MultiEdit", "Write", "NotebookEdit"})
LOADED: Final = "Instructions for files you are using now:\n\n"


class PathInstructions:
    """Finds them for one agent; each file is sent once."""

    def __init__(
        self, hooks: HookDispatch, instructions: Instructions, cwd: Callable[[], Path]
    ) -> None:
        """`hooks` fires for each file; `cwd` is the shell's."""
        self._hooks = hooks
        self._instructions = instructions
        self._cwd = cwd

    async def after_calls(self, outcomes: Sequence[tuple[ToolUse, CallOutcome]]) -> list[str]:
        """Return notes for the model after these calls; usually none."""
        files: list[InstructionFile] = []
        for use, outcome in outcomes:
            path = use.input.get("file_path") or use.input.get("notebook_path")
            if outcome.outcome == "ok" and use.name in FILE_TOOLS and isinstance(path, str):
                used_path = self._cwd() / path
                new_files = await asyncio.to_thread(self._instructions.for_path, used_path)
                for file in new_files:
                    await self._hooks.instructions_loaded(file, str(used_path))
                files += new_files
        text = render(files)
        return [note(f"{LOADED}{text}")] if text else []
