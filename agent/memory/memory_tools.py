"""The tools of the agent that extracts facts: Read, Edit and Write for memory files.

They have the names and parameters of the conversation's tools, whose definitions its requests
contain, but reach nothing else: a path is looked up among the facts, never opened directly.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Final

from agent.memory.facts import INDEX, NAME, FactStore, fact_file, read_fact
from agent.tools.base import InputT, Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.builtin.edit import EditInput
from agent.tools.builtin.read import ReadInput
from agent.tools.builtin.write import WriteInput
from agent.tools.registry import ToolRegistry
from permissions.base.text.sanitize import sanitize

MAX_NOTES: Final = 8_000
_FORM: Final = (
    "A fact is a head with its type (user, feedback, project or reference) and then one text:\n"
    "---\ntype: feedback\n---\nCommit messages in English."
)


class MemoryFiles:
    """The files that the tools may access. Methods block: call them in a thread."""

    def __init__(self, store: FactStore, notes: Path, today: date) -> None:
        """`notes` is the file with notes on the session."""
        self._store = store
        self._notes = notes
        self._today = today
        self.has_notes = False
        """Whether notes were written."""
        self.has_changed = False
        """Whether a fact was written or removed."""

    def read(self, name: str) -> str:
        """Return a file's text; empty if there is none yet. Raises ToolError."""
        path = _path(name)
        if path == self._notes:
            try:
                return path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                return ""
        if path == self._store.directory / INDEX:
            return self._store.index()
        fact = self._fact(path)
        return next((fact_file(each) for each in self._store.all() if each.name == fact), "")

    def write(self, name: str, content: str) -> str:
        """Replace a file, or remove a fact if `content` is empty; return a message.

        Raises:
            ToolError: it is not a memory file, or the content is not a fact.
            OSError: it cannot be written.
        """
        path = _path(name)
        if path == self._notes:
            self._store.write_notes(path, sanitize(content).strip()[:MAX_NOTES])
            self.has_notes = True
            return "Wrote the notes."
        fact = self._fact(path)
        if not content.strip():
            self.has_changed |= self._store.forget(fact)
            return f"Removed {fact}."
        new_fact = read_fact(fact, content)
        if new_fact is None:
            raise ToolError(f"Nothing was written. {_FORM}")
        if not self._store.save(new_fact, self._today):
            raise ToolError("Nothing was written: there are too many facts; remove some first.")
        self.has_changed = True
        return f"Wrote {fact}."

    def edit(self, name: str, old: str, new: str) -> str:
        """Replace a text that occurs once in a file. Raises as `write`."""
        text = self.read(name)
        if not old or text.count(old) != 1:
            raise ToolError(f"old_string has to occur once. The file is:\n{text}")
        return self.write(name, text.replace(old, new))

    def _fact(self, path: Path) -> str:
        places = (self._store.directory, self._store.everywhere)
        if path.parent in places and path.suffix == ".md" and NAME.fullmatch(path.stem):
            return path.stem
        raise ToolError(
            f"Only the files of the memory can be used: NAME.md in {places[0]} or {places[1]}, "
            f"NAME of lower case, digits and dashes, and {self._notes}. "
            f"{INDEX} follows the facts by itself."
        )


def memory_tools(files: MemoryFiles) -> ToolRegistry:
    """Return the three tools, for one run."""

    async def read(tool_input: ReadInput, _context: ToolContext) -> ToolOutcome:
        text = await asyncio.to_thread(files.read, tool_input.file_path)
        return ToolOutcome(text or "(There is no such file yet.)")

    async def write(tool_input: WriteInput, _context: ToolContext) -> ToolOutcome:
        return await _run_change(files.write, tool_input.file_path, tool_input.content)

    async def edit(tool_input: EditInput, _context: ToolContext) -> ToolOutcome:
        arguments = (tool_input.file_path, tool_input.old_string, tool_input.new_string)
        return await _run_change(files.edit, *arguments)

    return ToolRegistry(
        (
            _tool("Read", ReadInput, read),
            _tool("Write", WriteInput, write),
            _tool("Edit", EditInput, edit),
        )
    )


def _tool(
    name: str,
    input_model: type[InputT],
    run: Callable[[InputT, ToolContext], Awaitable[ToolOutcome]],
) -> Tool[InputT]:
    return build_tool(
        name=name, description="", input_model=input_model, run=run, requires_permission=False
    )


async def _run_change(change: Callable[..., str], *values: str) -> ToolOutcome:
    try:
        return ToolOutcome(await asyncio.to_thread(change, *values))
    except OSError as error:
        raise ToolError(f"Not written: {error.strerror}.") from error


def _path(name: str) -> Path:
    return Path(os.path.normpath(os.path.expanduser(name)))
