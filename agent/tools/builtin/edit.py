"""Edit: replace one exact piece of a file that has been read."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.display import Display
from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.builtin.write import refuse_unread
from agent.tools.file_state import digest
from agent.tools.files.atomic_write import (
    MAX_EDIT_BYTES,
    CurrentFile,
    link_notes,
    read_current,
    replace_file,
)
from agent.tools.files.file_diff import file_diff
from agent.tools.files.line_change import NoSuchText, change_text
from agent.tools.files.paths import (
    absolute,
    decided_path,
    display_path,
    path_objection,
    with_absolute,
)
from agent.tools.files.structured_patch import structured_patch
from agent.tools.files.text_file import NotText, TextFile, decode

_SNIPPET_CONTEXT: Final = 3
_SNIPPET_LINES: Final = 40
_SNIPPET_CHARS: Final = 400

DESCRIPTION: Final = f"""Replaces one exact piece of text in a file.

The file must have been read with Read in this conversation and must not have changed since. \
`old_string` must match the file exactly, indentation included, and occur once; give enough \
surrounding lines to make it unique, or set `replace_all` to change every occurrence (for \
renaming). Copy the text as it comes after the line number and the tab of Read's output, without \
these two. An empty `old_string` fills a file that does not exist or is empty.

Use it rather than Write for existing files. The rest of the file stays as it is to the byte: \
encoding, line endings and mode are kept. Text files only, at most {MAX_EDIT_BYTES:,} bytes."""


class EditInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Edit."""

    file_path: Annotated[str, Meta(description="Absolute path of the file to change.")]
    old_string: Annotated[str, Meta(description="The exact text to replace.")]
    new_string: Annotated[str, Meta(description="The text to put there; must differ.")]
    replace_all: Annotated[
        bool, Meta(description="Replace every occurrence instead of exactly one.")
    ] = False


class _Edited(Struct, frozen=True):
    original: TextFile
    new_text: str
    data: bytes
    count: int
    first_line: int
    current: CurrentFile | None
    """The file before the change; None if it does not exist yet."""

    @property
    def digest_before(self) -> str | None:
        """The content hash the change is based on."""
        return None if self.current is None else self.current.digest


async def _validate(tool_input: EditInput, context: ToolContext) -> str | None:
    objection = path_objection(tool_input.file_path)
    if objection:
        return objection
    if tool_input.old_string == tool_input.new_string:
        raise ToolError(
            "The new text is the same as the old one: there is nothing to change.",
            "old_string and new_string must differ.",
        )
    await asyncio.to_thread(_edit, tool_input, context)
    return None


def _edit(tool_input: EditInput, context: ToolContext) -> _Edited:
    """Compute the change without making it. Raises ToolError."""
    path = absolute(tool_input.file_path, context.services)
    name = display_path(path, context.services.launch_dir)
    current = read_current(decided_path(path, context))
    if tool_input.old_string == "":
        return _fill_empty_file(tool_input.new_string, current, name)
    if current is None:
        raise ToolError(f"{name} does not exist.", "Use Write to create it.")
    refuse_unread(path, current, context)
    try:
        original = decode(current.data)
        change = change_text(
            original,
            tool_input.old_string,
            tool_input.new_string,
            replace_all=tool_input.replace_all,
        )
    except NotText as error:
        raise ToolError(f"{name} is not a text file: {error}.") from error
    except NoSuchText as error:
        raise ToolError(f"{name}: {error.fact}", error.advice) from error
    data = _encode(original, change.text, name)
    return _Edited(original, change.text, data, change.count, change.first_line, current)


def _fill_empty_file(content: str, current: CurrentFile | None, name: str) -> _Edited:
    if current is not None and current.data:
        raise ToolError(
            f"{name} is not empty.", "old_string may only be empty for a new or an empty file."
        )
    data = _encode(TextFile(""), content, name)
    return _Edited(TextFile(""), content, data, 1, 1, current)


def _encode(form: TextFile, text: str, name: str) -> bytes:
    try:
        return form.encode(text)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise ToolError(
            f"{name} is {form.encoding.upper()}, which cannot hold U+{ord(character):04X} of the "
            "new text. Nothing was written.",
            "Use other characters, or convert the file first.",
        ) from error


async def _run(tool_input: EditInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    path = absolute(tool_input.file_path, services)
    name = display_path(path, services.launch_dir)
    target = decided_path(path, context)
    edit = await asyncio.to_thread(_edit, tool_input, context)
    if services.checkpoints is not None:
        await services.checkpoints.before_change(target, tool_use_id=context.tool_use_id)
    await asyncio.to_thread(
        replace_file,
        target,
        edit.data,
        expected_digest=edit.digest_before,
        may_write=partial(services.scope.may_write, also=context.write_dirs),
    )
    services.files.record(path, digest(edit.data))
    times = "" if edit.count == 1 else f" in {edit.count} places"
    notes = "; ".join(edit.original.notes())
    links = "".join(f" ({note})" for note in link_notes(edit.current))
    return ToolOutcome(
        content=(
            f"Changed {name}{times}{f' ({notes}; kept)' if notes else ''}{links}. "
            f"Around the {'first ' * (edit.count > 1)}change it now reads:\n"
            f"{_snippet(edit, tool_input.new_string)}"
        ),
        display=_diff(name, edit),
        tool_response={
            "filePath": str(path),
            "oldString": tool_input.old_string,
            "newString": tool_input.new_string,
            "originalFile": edit.original.text,
            "structuredPatch": structured_patch(edit.original.text, edit.new_text),
            "replaceAll": tool_input.replace_all,
            "userModified": False,
            "success": True,
        },
    )


def _snippet(edit: _Edited, new: str) -> str:
    lines = edit.new_text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    first = max(0, edit.first_line - 1 - _SNIPPET_CONTEXT)
    last = edit.first_line + new.count("\n") + _SNIPPET_CONTEXT
    shown_lines = lines[first : min(last, first + _SNIPPET_LINES)]
    return "\n".join(
        f"{number:6}\t{line[:_SNIPPET_CHARS]}" for number, line in enumerate(shown_lines, first + 1)
    )


def _diff(name: str, edit: _Edited) -> Display:
    return file_diff(
        name,
        edit.original.text.replace("\r\n", "\n"),
        edit.new_text.replace("\r\n", "\n"),
        is_new=edit.digest_before is None,
    )


async def _preview(tool_input: EditInput, context: ToolContext) -> Display:
    name = display_path(
        absolute(tool_input.file_path, context.services), context.services.launch_dir
    )
    return _diff(name, await asyncio.to_thread(_edit, tool_input, context))


def edit_tool() -> Tool[EditInput]:
    """Return the tool."""
    return build_tool(
        name="Edit",
        description=DESCRIPTION,
        input_model=EditInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        # The previous content is known and stored as a checkpoint.
        is_destructive=lambda _: False,
        always_load=True,
        max_result_size_chars=30_000,
        identifier=lambda tool_input, root: f"Edit {display_path(tool_input.file_path, root)}",
        preview=_preview,
        permission_input=with_absolute("file_path"),
    )
