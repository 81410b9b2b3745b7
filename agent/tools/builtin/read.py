"""Read: return a file — text with line numbers, images, PDF pages, notebooks."""

from __future__ import annotations

import asyncio
import difflib
import os
from pathlib import Path
from typing import Annotated, BinaryIO, Final

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
from agent.tools.builtin.read_image import image_outcome, image_type
from agent.tools.builtin.read_notebook import notebook_outcome
from agent.tools.builtin.read_pdf import (
    MAX_PAGES,
    MAX_PDF_BYTES,
    PdfFile,
    page_numbers,
    pdf_outcome,
)
from agent.tools.file_state import digest
from agent.tools.files.atomic_write import MAX_EDIT_BYTES
from agent.tools.files.paths import (
    absolute,
    decided_path,
    display_path,
    path_objection,
    with_absolute,
)
from agent.tools.files.text_file import NotText, TextFile, decode, refuse_binary
from agent.tools.files.text_window import (
    DEFAULT_LINES,
    MAX_CHARS,
    MAX_LINE_CHARS,
    Window,
    window_of,
    window_of_stream,
)
from permissions.base.files.plain_file import NotRegular, open_canonical

DESCRIPTION: Final = f"""Reads one file.

Text comes with line numbers (number, tab, line), at most {DEFAULT_LINES:,} lines and \
{MAX_CHARS:,} characters at a time, lines cut after {MAX_LINE_CHARS:,} characters; use `offset` \
and `limit` for the rest of a long file. PNG, JPEG, GIF and WebP are shown as images. Of a PDF \
the text of at most {MAX_PAGES} pages is returned; choose with `pages`. Notebooks (.ipynb) come \
as cells with their outputs.

Use it before Edit or Write on an existing file, and whenever the content matters. Read whole \
files unless they are very long, and several files in one turn when you need several. Do not use \
it for folders (use Glob), or to search many files (use Grep)."""


class ReadInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Read."""

    file_path: Annotated[str, Meta(description="Absolute path of the file to read.")]
    offset: Annotated[
        int | None, Meta(ge=0, description="Number of the first line, counted from 1.")
    ] = None
    limit: Annotated[
        int | None, Meta(ge=1, description=f"How many lines; {DEFAULT_LINES} if not given.")
    ] = None
    pages: Annotated[
        str | None, Meta(description="Pages of a PDF, such as `3` or `1-5,9`. Only for PDF.")
    ] = None


async def _validate(tool_input: ReadInput, _context: ToolContext) -> str | None:
    objection = path_objection(tool_input.file_path)
    if objection:
        return objection
    if tool_input.pages is not None:
        if not tool_input.file_path.lower().endswith(".pdf"):
            raise ToolError(
                "Pages were asked for, and only PDF files have them.",
                "Use `offset` and `limit` for text.",
            )
        try:
            page_numbers(tool_input.pages)
        except ValueError as error:
            return str(error)
    return None


async def _run(tool_input: ReadInput, context: ToolContext) -> ToolOutcome:
    outcome = await asyncio.to_thread(_read, tool_input, context)
    return await pdf_outcome(outcome) if isinstance(outcome, PdfFile) else outcome


def _read(tool_input: ReadInput, context: ToolContext) -> ToolOutcome | PdfFile:
    path = absolute(tool_input.file_path, context.services)
    name = display_path(path, context.services.launch_dir)
    try:
        file = open_canonical(decided_path(path, context))
    except NotRegular as error:
        hint = "List it with Glob (pattern `*`) or `ls`." if os.path.isdir(path) else ""
        raise ToolError(f"{name} {error}.", hint) from error
    except FileNotFoundError as error:
        raise _missing_file_error(path, name, context) from error
    except OSError as error:
        raise ToolError(f"Cannot read {name}: {error.strerror}.") from error
    with file:
        status = os.fstat(file.fileno())
        is_pdf = path.suffix.lower() == ".pdf"
        if status.st_size > MAX_EDIT_BYTES and not is_pdf:
            start = file.read(8_192)
            file.seek(0)
            _refuse(start, name, status.st_size)
            encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
            if encoding != "utf-8":
                raise ToolError(f"{name} is UTF-16 and too large to read.", "Convert it first.")
            window = window_of_stream(
                file,
                encoding,
                tool_input.offset,
                tool_input.limit,
                max_chars=_max_chars(start.decode(encoding, "replace"), context),
                is_aborted=lambda: context.abort.aborted,
            )
            note = f"{status.st_size:,} bytes, too large for Edit"
            return _text_outcome(window, (note,), path, name)
        data = _read_all(file, MAX_PDF_BYTES if is_pdf else MAX_EDIT_BYTES, name)
    return _outcome_of(data, tool_input, path, name, context)


def _read_all(file: BinaryIO, limit: int, name: str) -> bytes:
    """Return the content. Raises ToolError above `limit` bytes, whatever its reported size."""
    try:
        data = file.read(limit + 1)
    except OSError as error:
        raise ToolError(f"Cannot read {name}: {error.strerror}.") from error
    if len(data) > limit:
        raise ToolError(f"{name} holds more than {limit:,} bytes: too large to read.")
    return data


def _outcome_of(
    data: bytes, tool_input: ReadInput, path: Path, name: str, context: ToolContext
) -> ToolOutcome | PdfFile:
    suffix = path.suffix.lower()
    if data.startswith(b"%PDF-") or suffix == ".pdf":
        return PdfFile(data, name, path, tool_input.pages)
    if tool_input.pages is not None:
        raise ToolError(f"{name} is not a PDF.")
    if image_type(data) is not None:
        return image_outcome(data, name)
    context.services.files.record(path, digest(data))
    if suffix == ".ipynb":
        return notebook_outcome(data, name, path, tool_input.offset, tool_input.limit)
    file = _decode_text(data, name)
    if not file.text:
        return ToolOutcome(
            f"[{name} is empty.]", tool_response=_structured_result(path, "", 1, 0, 0)
        )
    max_chars = _max_chars(file.text[:MAX_CHARS], context)
    window = window_of(file.text, tool_input.offset, tool_input.limit, max_chars)
    return _text_outcome(window, file.notes(), path, name)


def _max_chars(text: str, context: ToolContext) -> int:
    """Return how many characters of the text may be shown, with room left for notes."""
    return min(MAX_CHARS, context.services.room.characters(text) * 9 // 10)


def _decode_text(data: bytes, name: str) -> TextFile:
    try:
        return decode(data)
    except NotText as error:
        raise _binary(name, len(data), str(error)) from error


def _refuse(start: bytes, name: str, size: int) -> None:
    if image_type(start) is not None:
        raise ToolError(f"{name} is an image of {size:,} bytes: too large to show.")
    try:
        refuse_binary(start)
    except NotText as error:
        raise _binary(name, size, str(error)) from error


def _binary(name: str, size: int, why: str) -> ToolError:
    return ToolError(
        f"{name} is a binary file of {size:,} bytes ({why}); there is no text to show.",
        "Look at it with a command such as `file` or `xxd | head`.",
    )


def _text_outcome(
    window: Window, form_notes: tuple[str, ...], path: Path, name: str
) -> ToolOutcome:
    if not window.lines:
        raise ToolError(
            f"{name} has only {window.total:,} lines.", f"Offset {window.first} is past its end."
        )
    notes = (*window.notes(), *form_notes)
    text = window.numbered_text() + (f"\n\n[{name}: {'; '.join(notes)}]" if notes else "")
    body = "\n".join(window.lines)
    return ToolOutcome(
        text,
        tool_response=_structured_result(path, body, window.first, len(window.lines), window.total),
    )


def _structured_result(
    path: Path, content: str, first: int, count: int, total: int
) -> dict[str, object]:
    return {
        "type": "text",
        "file": {
            "filePath": str(path),
            "content": content,
            "numLines": count,
            "startLine": first,
            "totalLines": total,
        },
    }


def _missing_file_error(path: Path, name: str, context: ToolContext) -> ToolError:
    message = f"{name} does not exist."
    if os.path.islink(path):
        return ToolError(f"{name} is a link to a file that does not exist.")
    if not context.services.scope.is_inside(path.parent):
        return ToolError(message)
    try:
        siblings = sorted(os.listdir(path.parent))
    except OSError:
        place = f"The current directory is {context.services.cwd}."
        return ToolError(f"{message} Nor does its folder.", place)
    similar = difflib.get_close_matches(path.name, siblings, n=3, cutoff=0.6)
    if similar:
        names = ", ".join(display_path(n, path.parent) for n in similar)
        return ToolError(message, f"Similar names there: {names}.")
    return ToolError(message)


def _identifier(tool_input: ReadInput, root: Path) -> str:
    name = f"Read {display_path(tool_input.file_path, root)}"
    if tool_input.pages is not None:
        return f"{name} pages {tool_input.pages}"
    if tool_input.offset is None and tool_input.limit is None:
        return name
    first = tool_input.offset or 1
    return f"{name}:{first}-{first + tool_input.limit - 1 if tool_input.limit else ''}"


def read_tool() -> Tool[ReadInput]:
    """Return the tool."""
    return build_tool(
        name="Read",
        description=DESCRIPTION,
        input_model=ReadInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.READ_ONLY,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        interrupt_behavior=InterruptBehavior.CANCEL,
        always_load=True,
        # Bounded by its own limits: a result stored in a file would have to be read again.
        max_result_size_chars=4 * MAX_CHARS,
        identifier=_identifier,
        permission_input=with_absolute("file_path"),
    )
