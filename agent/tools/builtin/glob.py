"""Glob: find files by name pattern, newest first."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)
from agent.tools.files.paths import absolute, display_path, path_objection, printable
from agent.tools.search.hidden_note import hidden_note
from agent.tools.search.rg import SearchResult, file_selection, search
from agent.tools.search.search_entries import entry_path, newest_first
from agent.tools.services import ToolServices
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.text.count_text import count_text

MAX_FILES: Final = 100
_MAX_STATED: Final = 50_000
_MAGIC: Final = frozenset("*?[{")

DESCRIPTION: Final = f"""Finds files by name, newest first, at most {MAX_FILES}.

Patterns: `*.py` (at any depth), `src/**/*.ts`, `**/test_*.{{py,pyi}}`. Files that .gitignore \
leaves out are not listed, unless nothing else matches. `path` is the folder to search, the \
current directory if not given.

Use it when you know something about the name. To search in contents use Grep. Only files are \
listed, not folders."""


class GlobInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Glob."""

    pattern: Annotated[str, Meta(min_length=1, max_length=4_000, description="The name pattern.")]
    path: Annotated[
        str | None, Meta(description="Folder to search; leave out for the current directory.")
    ] = None


def _root(tool_input: GlobInput, services: ToolServices) -> tuple[Path, str]:
    """Return the directory and the pattern below it; an absolute pattern contains its directory."""
    directory = absolute(tool_input.path, services) if tool_input.path else services.cwd
    pattern = tool_input.pattern.removeprefix("./")
    if not pattern.startswith(("/", "~/")):
        return directory, pattern
    parts = Path(absolute(pattern, services)).parts
    fixed_count = next((i for i, part in enumerate(parts) if _MAGIC & set(part)), len(parts) - 1)
    return Path(*parts[:fixed_count]), "/".join(parts[fixed_count:])


async def _validate(tool_input: GlobInput, context: ToolContext) -> str | None:
    for text in (tool_input.path, tool_input.pattern):
        objection = path_objection(text) if text is not None else None
        if objection:
            return objection
    if ".." in tool_input.pattern.split("/"):
        raise ToolError("The pattern may not contain `..`.", "Give the folder in `path` instead.")
    if tool_input.pattern.startswith("!"):
        return "The pattern may not start with `!`."
    return None


def _permission_input(
    tool_input: GlobInput, raw: Mapping[str, object], context: ToolContext
) -> Mapping[str, object]:
    return {**raw, "path": str(_root(tool_input, context.services)[0])}


async def _run(tool_input: GlobInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    start_s = time.monotonic()
    directory, pattern = _root(tool_input, services)
    name = display_path(directory, services.launch_dir)
    if not os.path.isdir(directory):
        raise ToolError(
            f"{name} is not a folder." if os.path.exists(directory) else f"{name} does not exist."
        )
    names, note, is_ignored = await _find_names(pattern, directory, services.reading)
    files = await asyncio.to_thread(_newest_first, names, directory)
    chosen, withheld = _permitted_files(files, services)
    is_cut = len(chosen) + withheld < len(files)
    lines = [display_path(path, services.launch_dir) for path in chosen]
    notes = [note] if note else []
    if is_ignored:
        notes.append("all of these are ignored by .gitignore")
    if withheld:
        notes.append(f"left out by permission rules: {count_text(withheld, 'file')}")
    if is_cut:
        notes.append(f"{MAX_FILES} of {len(files):,} files; use a narrower pattern to see others")
    if hidden := await hidden_note(directory, services):
        notes.append(hidden)
    text = "\n".join(lines) or f"No file in {name} matches {printable(tool_input.pattern)}."
    return ToolOutcome(
        text + (f"\n\n[{'; '.join(notes)}]" if notes else ""),
        tool_response={
            "filenames": [printable(str(path)) for path in chosen],
            "numFiles": len(lines),
            "truncated": is_cut or bool(note),
            "durationMs": int((time.monotonic() - start_s) * 1000),
        },
    )


async def _find_names(
    pattern: str, directory: Path, programs: ReadingPrograms
) -> tuple[set[bytes], str, bool]:
    """Return the matching names, a note, and whether all of them are ignored by .gitignore."""
    names, note = await _matching(pattern, directory, programs)
    # A glob of rg also matches files that .gitignore excludes.
    if names and not note:
        all_files = await _list_files([], directory, programs)
        names, note = names & _names(all_files), all_files.note
    if names or note:
        return names, note, False
    names, note = await _matching(pattern, directory, programs, "--no-ignore")
    return names, note, bool(names)


def _permitted_files(files: list[Path], services: ToolServices) -> tuple[list[Path], int]:
    """Return the first files that may be shown, and how many rules withheld on the way."""
    chosen: list[Path] = []
    withheld = 0
    for path in files:
        if len(chosen) == MAX_FILES:
            break
        if services.may_search is None or services.may_search(path):
            chosen.append(path)
        else:
            withheld += 1
    return chosen, withheld


async def _matching(
    pattern: str, directory: Path, programs: ReadingPrograms, *options: str
) -> tuple[set[bytes], str]:
    """Return the names that match, including ignored files, and the note of the search."""
    try:
        result = await _list_files([_glob(pattern)], directory, programs, *options)
    except ToolError:
        # Malformed, such as an open bracket: match it literally.
        literal = _glob(re.sub(r"(\\.)|([*?\[\]{}\\])", _escape_match, pattern, flags=re.DOTALL))
        result = await _list_files([literal], directory, programs, *options)
    return _names(result), result.note


def _escape_match(match: re.Match[str]) -> str:
    return match[1] or f"\\{match[2]}"


async def _list_files(
    globs: list[str], directory: Path, programs: ReadingPrograms, *options: str
) -> SearchResult:
    arguments = ["--files", "--null", *options, *file_selection(globs), "./"]
    return await search(arguments, directory=directory, programs=programs)


def _glob(pattern: str) -> str:
    """Return a pattern escaped for rg, which reads globs like lines of an ignore file."""
    if pattern[:1] in ("#", "!"):
        pattern = f"\\{pattern}"
    if pattern[-1:].isspace():
        head = pattern[:-1]
        is_escaped = (len(head) - len(head.rstrip("\\"))) % 2
        pattern = f"{head[: len(head) - is_escaped]}[{pattern[-1]}]"
    return pattern


def _names(result: SearchResult) -> set[bytes]:
    return set(filter(None, result.data.split(b"\0")))


def _newest_first(names: set[bytes], directory: Path) -> list[Path]:
    return newest_first(entry_path(name, directory) for name in islice(names, _MAX_STATED))


def _identifier(tool_input: GlobInput, root: Path) -> str:
    where = f" in {display_path(tool_input.path, root)}" if tool_input.path else ""
    return f"Glob {printable(tool_input.pattern)}{where}"


def glob_tool() -> Tool[GlobInput]:
    """Return the tool."""
    return build_tool(
        name="Glob",
        description=DESCRIPTION,
        input_model=GlobInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.READ_ONLY,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        interrupt_behavior=InterruptBehavior.CANCEL,
        always_load=True,
        max_result_size_chars=100_000,
        identifier=_identifier,
        permission_input=_permission_input,
    )
