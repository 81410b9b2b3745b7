"""Write: replace the whole content of a file in one atomic step."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.display import Display
from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.file_state import digest
from agent.tools.files.atomic_write import (
    MAX_EDIT_BYTES,
    CurrentFile,
    link_notes,
    read_current,
    replace_file,
)
from agent.tools.files.file_diff import file_diff
from agent.tools.files.paths import (
    absolute,
    decided_path,
    display_path,
    path_objection,
    with_absolute,
)
from agent.tools.files.structured_patch import structured_patch
from agent.tools.files.text_file import NotText, TextFile, decode

DESCRIPTION: Final = f"""Writes a file, replacing what it had. Folders on the way are made.

Use it for new files and for complete rewrites. To change part of a file use Edit: it is shorter \
and safer. An existing file must have been read with Read first, and must not have changed since. \
Do not create documentation or other files that the user did not ask for.

An existing file keeps its encoding, byte order mark, CRLF line endings and mode. At most \
{MAX_EDIT_BYTES:,} bytes."""


class WriteInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Write."""

    file_path: Annotated[str, Meta(description="Absolute path of the file to write.")]
    content: Annotated[str, Meta(description="The whole new content.")]


async def _validate(tool_input: WriteInput, context: ToolContext) -> str | None:
    objection = path_objection(tool_input.file_path)
    if objection:
        return objection
    if tool_input.file_path.endswith("/"):
        raise ToolError("The path names a folder.", "Write needs the path of a file.")
    if len(tool_input.content) > MAX_EDIT_BYTES:
        return f"The content is longer than {MAX_EDIT_BYTES:,} bytes."
    path = absolute(tool_input.file_path, context.services)
    current = await asyncio.to_thread(read_current, decided_path(path, context))
    refuse_unread(path, current, context)
    return None


def refuse_unread(path: Path, current: CurrentFile | None, context: ToolContext) -> None:
    """Raise ToolError if an existing file was not read, or has changed since."""
    if current is None:
        return
    name = display_path(path, context.services.launch_dir)
    known_hash = context.services.files.known_hash(path)
    if known_hash is None:
        raise ToolError(
            f"{name} exists and has not been read yet.", "Read it first, then change it."
        )
    if known_hash != current.digest:
        raise ToolError(
            f"{name} changed on disk since it was read (by the user, a formatter or a command).",
            "Read it again before changing it.",
        )


async def _run(tool_input: WriteInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    path = absolute(tool_input.file_path, services)
    name = display_path(path, services.launch_dir)
    target = decided_path(path, context)
    current = await asyncio.to_thread(read_current, target)
    refuse_unread(path, current, context)
    data, old, notes = _render(tool_input.content, current)
    if services.checkpoints is not None:
        await services.checkpoints.before_change(target, tool_use_id=context.tool_use_id)
    await asyncio.to_thread(
        replace_file,
        target,
        data,
        expected_digest=current.digest if current else None,
        may_write=partial(services.scope.may_write, also=context.write_dirs),
    )
    services.files.record(path, digest(data))
    verb = "Wrote" if current else "Created"
    lines = len(tool_input.content.splitlines())
    notes += link_notes(current)
    note = f" ({'; '.join(notes)})" if notes else ""
    return ToolOutcome(
        content=f"{verb} {name}: {lines} line{'s' * (lines != 1)}, {len(data):,} bytes{note}.",
        display=file_diff(name, old, tool_input.content, is_new=current is None),
        tool_response={
            "type": "update" if current else "create",
            "filePath": str(path),
            "content": tool_input.content,
            "originalFile": old if current else None,
            "structuredPatch": structured_patch(old, tool_input.content),
            "userModified": False,
            "success": True,
        },
    )


def _render(content: str, current: CurrentFile | None) -> tuple[bytes, str, list[str]]:
    """Return the new bytes, the old text, and notes for the model about the encoding."""
    form, notes = TextFile(""), []
    if current is not None:
        try:
            form = decode(current.data)
        except NotText:
            notes.append("it was a binary file before")
    text = content
    if form.line_ending == "\r\n" and not form.lf_count and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
        notes.append("CRLF line endings kept")
    try:
        data = form.encode(text)
    except UnicodeEncodeError:
        data = text.encode()
        notes.append(f"now UTF-8: {form.encoding.upper()} cannot hold the new text")
    return data, form.text.replace("\r\n", "\n"), notes


async def _preview(tool_input: WriteInput, context: ToolContext) -> Display:
    path = absolute(tool_input.file_path, context.services)
    current = await asyncio.to_thread(read_current, decided_path(path, context))
    old = ""
    if current is not None:
        try:
            old = decode(current.data).text.replace("\r\n", "\n")
        except NotText as error:
            old = f"(binary file: {error})"
    name = display_path(path, context.services.launch_dir)
    return file_diff(name, old, tool_input.content, is_new=current is None)


def write_tool() -> Tool[WriteInput]:
    """Return the tool."""
    return build_tool(
        name="Write",
        description=DESCRIPTION,
        input_model=WriteInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        always_load=True,
        max_result_size_chars=10_000,
        identifier=lambda tool_input, root: f"Write {display_path(tool_input.file_path, root)}",
        preview=_preview,
        permission_input=with_absolute("file_path"),
    )
