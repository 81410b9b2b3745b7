"""Grep: search file contents with a regular expression."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

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
from agent.tools.search.search_entries import (
    SearchEntry,
    file_entries,
    fitting_entries,
    line_entries,
    permitted_entries,
)
from agent.tools.services import ToolServices
from permissions.base.text.count_text import count_text

DEFAULT_HEAD_LIMIT: Final = 250
MAX_COLUMNS: Final = 500
MAX_CHARS: Final = 30_000
_MAX_CONTEXT: Final = 100

OutputMode = Literal["files_with_matches", "content", "count"]

DESCRIPTION: Final = f"""Searches the contents of files with ripgrep.

`pattern` is a regular expression of ripgrep (Rust): escape literal braces and parentheses \
(`interface\\{{\\}}`). Modes: `files_with_matches` (the default: paths, newest first), `content` \
(matching lines with numbers and context), `count` (matches per file). Narrow by `glob` \
(`*.{{ts,tsx}}`), `type` (py, js, rust, go …) or `path`. Patterns match within one line unless \
`multiline` is set.

At most {DEFAULT_HEAD_LIMIT} entries come back unless `head_limit` says otherwise (0 for as many \
as fit); `offset` skips entries. Lines are cut after {MAX_COLUMNS} characters. Binary files \
are not searched, nor are files that .gitignore leaves out, unless `glob` names them.

Use it for every search in contents, never `grep` or `rg` in Bash. To find files by name use \
Glob."""


class GrepInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Grep."""

    pattern: Annotated[str, Meta(min_length=1, description="The regular expression.")]
    path: Annotated[
        str | None,
        Meta(description="File or folder to search; leave out for the current directory."),
    ] = None
    glob: Annotated[
        str | None,
        Meta(max_length=1_000, description="Only files whose name matches, such as `*.js`."),
    ] = None
    type: Annotated[
        str | None,
        Meta(pattern=r"^[A-Za-z0-9_+-]+$", description="Only files of this type, such as `py`."),
    ] = None
    output_mode: Annotated[OutputMode, Meta(description="What to return.")] = "files_with_matches"
    ignore_case: Annotated[
        bool, Meta(description="Ignore the difference of upper and lower case.")
    ] = field(default=False, name="-i")
    line_numbers: Annotated[
        bool, Meta(description="Show line numbers; only with mode content.")
    ] = field(default=True, name="-n")
    lines_after: Annotated[
        int | None,
        Meta(ge=0, le=_MAX_CONTEXT, description="Lines after each match; mode content."),
    ] = field(default=None, name="-A")
    lines_before: Annotated[
        int | None,
        Meta(ge=0, le=_MAX_CONTEXT, description="Lines before each match; mode content."),
    ] = field(default=None, name="-B")
    context_lines: Annotated[
        int | None,
        Meta(
            ge=0,
            le=_MAX_CONTEXT,
            description="Lines before and after each match; mode content.",
        ),
    ] = field(default=None, name="-C")
    head_limit: Annotated[
        int | None,
        Meta(ge=0, description=f"At most so many entries; {DEFAULT_HEAD_LIMIT} if not given."),
    ] = None
    offset: Annotated[int, Meta(ge=0, description="Skip so many entries.")] = 0
    multiline: Annotated[
        bool, Meta(description="Let `.` match line ends and patterns span lines.")
    ] = False


async def _validate(tool_input: GrepInput, _context: ToolContext) -> str | None:
    if tool_input.path is not None:
        objection = path_objection(tool_input.path)
        if objection:
            return objection
    if "\0" in tool_input.pattern + (tool_input.glob or ""):
        return "The pattern contains a NUL character, which cannot be passed on."
    return None


def _target(tool_input: GrepInput, services: ToolServices) -> Path:
    return absolute(tool_input.path, services) if tool_input.path else services.cwd


def _permission_input(
    tool_input: GrepInput, raw: Mapping[str, object], context: ToolContext
) -> Mapping[str, object]:
    return {**raw, "path": str(_target(tool_input, context.services))}


async def _run(tool_input: GrepInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    target = _target(tool_input, services)
    if not os.path.exists(target):
        raise ToolError(f"{display_path(target, services.launch_dir)} does not exist.")
    directory, operand = (
        (target, "./") if os.path.isdir(target) else (target.parent, f"./{target.name}")
    )
    options = _options(tool_input)
    result = await search(
        [*options, "--", tool_input.pattern, operand],
        directory=directory,
        programs=services.reading,
        enough=_stop_condition(tool_input),
    )
    if tool_input.output_mode == "files_with_matches":
        entries = await asyncio.to_thread(file_entries, result.data, directory, services.launch_dir)
    else:
        entries = line_entries(
            result.data,
            directory,
            services.launch_dir,
            is_count=tool_input.output_mode == "count",
            with_numbers=tool_input.line_numbers,
        )
    entries, withheld = permitted_entries(entries, services.may_search)
    hidden = await hidden_note(target, services)
    return _outcome(tool_input, entries, result, withheld, hidden)


def _options(tool_input: GrepInput) -> list[str]:
    options = ["--null", "--color=never", "--no-messages"]
    options += file_selection(split_globs(tool_input.glob), tool_input.type)
    match tool_input.output_mode:
        case "files_with_matches":
            options.append("--files-with-matches")
        case "count":
            # Sorted, so that `offset` continues where the last call ended.
            options += ["--count-matches", "--with-filename", "--sort=path"]
        case "content":
            options += [
                "--with-filename",
                "--no-heading",
                "--line-number",
                "--sort=path",
                f"--max-columns={MAX_COLUMNS}",
                "--max-columns-preview",
            ]
            for flag, count in (
                ("--after-context", tool_input.lines_after),
                ("--before-context", tool_input.lines_before),
                ("--context", tool_input.context_lines),
            ):
                if count:
                    options.append(f"{flag}={count}")
    if tool_input.ignore_case:
        options.append("--ignore-case")
    if tool_input.multiline:
        options += ["--multiline", "--multiline-dotall"]
    return options


def split_globs(globs: str | None) -> list[str]:
    """Split a list of patterns at spaces and commas that are not inside braces."""
    if globs is None:
        return []
    return [part for part in re.split(r"[\s,]+(?![^{}]*\})", globs) if part]


def _stop_condition(tool_input: GrepInput) -> Callable[[bytes], bool]:
    """Return a predicate that ends the search once one entry more than wanted was printed."""
    limit = _limit(tool_input)
    if tool_input.output_mode == "files_with_matches" or limit is None:
        # Which files are newest is only known at the end.
        return lambda _: False
    limit_lines = tool_input.offset + limit + 1
    line_count = 0

    def enough(data: bytes) -> bool:
        nonlocal line_count
        line_count += data.count(b"\n")
        return line_count > limit_lines

    return enough


def _limit(tool_input: GrepInput) -> int | None:
    """Return how many entries are wanted; None for as many as fit."""
    if tool_input.head_limit is None:
        return DEFAULT_HEAD_LIMIT
    return tool_input.head_limit or None


def _outcome(
    tool_input: GrepInput,
    entries: list[SearchEntry],
    result: SearchResult,
    withheld: int,
    hidden: str,
) -> ToolOutcome:
    limit = _limit(tool_input)
    chosen = entries[tool_input.offset :]
    if limit is not None:
        chosen = chosen[:limit]
    chosen = fitting_entries(chosen, MAX_CHARS)
    files = list(dict.fromkeys(entry.path for entry in chosen if entry.path is not None))
    remaining = len(entries) - tool_input.offset - len(chosen)
    notes = _notes(tool_input, len(entries), len(chosen), result)
    if withheld:
        notes.append(f"left out by permission rules: {count_text(withheld, 'file')}")
    if hidden:
        notes.append(hidden)
    none = "No match."
    if b"binary file matches" in result.data and not entries:
        none = "A binary file matches; it has no lines to show."
    text = "\n".join(entry.text for entry in chosen) or none
    tool_response = _structured_result(tool_input.output_mode, chosen, files)
    if tool_input.output_mode == "count" and chosen:
        count = sum(entry.count for entry in chosen)
        notes.insert(0, f"{count:,} matches in {len(files):,} files")
    if remaining > 0:
        tool_response |= {"appliedLimit": len(chosen), "appliedOffset": tool_input.offset}
    return ToolOutcome(
        text + (f"\n\n[{'; '.join(notes)}]" if notes else ""), tool_response=tool_response
    )


def _structured_result(
    mode: str, chosen: list[SearchEntry], files: list[Path]
) -> dict[str, object]:
    """Return the result in the shape that hooks expect."""
    values: dict[str, object] = {
        "mode": mode,
        "filenames": [printable(str(path)) for path in files],
        "numFiles": len(files),
    }
    if mode == "content":
        values |= {"content": "\n".join(e.text for e in chosen), "numLines": len(chosen)}
    elif mode == "count":
        values["numMatches"] = sum(entry.count for entry in chosen)
    return values


def _identifier(tool_input: GrepInput, root: Path) -> str:
    where = f" in {display_path(tool_input.path, root)}" if tool_input.path else ""
    only = f" ({tool_input.glob or tool_input.type})" if tool_input.glob or tool_input.type else ""
    return f"Grep {printable(tool_input.pattern)}{where}{only}"


def grep_tool() -> Tool[GrepInput]:
    """Return the tool."""
    return build_tool(
        name="Grep",
        description=DESCRIPTION,
        input_model=GrepInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.READ_ONLY,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        interrupt_behavior=InterruptBehavior.CANCEL,
        always_load=True,
        max_result_size_chars=2 * MAX_CHARS,
        identifier=_identifier,
        permission_input=_permission_input,
    )


def _notes(tool_input: GrepInput, total: int, chosen: int, result: SearchResult) -> list[str]:
    """Return what is missing: the entries after those shown, or what the search left out."""
    following = tool_input.offset + chosen
    if following < total:
        more = "more" if result.note else f"{total - following:,} more"
        return [f"there are {more} entries; continue with offset={following}"]
    if result.note:
        return [result.note]
    if tool_input.offset and not chosen:
        return [f"offset {tool_input.offset} is past the last of {total} entries"]
    return []
