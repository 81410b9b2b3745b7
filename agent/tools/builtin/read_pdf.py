"""Pages of a PDF as text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.tools.base import ToolError, ToolOutcome
from agent.tools.files.document import UnreadableDocument, read_document
from agent.tools.files.text_window import MAX_CHARS
from permissions.base.text.late_pattern import compile_late

MAX_PAGES: Final = 20
MAX_PDF_BYTES: Final = 100 * 1024 * 1024

_RANGE: Final = compile_late(r"^\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?$")


def page_numbers(pages: str) -> tuple[int, ...]:
    """Return the page numbers, counted from 1, that `1-5,9` names; ascending, each once.

    Raises:
        ValueError: it is not such a list, or names more than `MAX_PAGES` pages.
    """
    numbers: set[int] = set()
    for part in pages.split(","):
        match = _RANGE.match(part)
        first = int(match[1]) if match else 0
        last = int(match[2] or first) if match else 0
        if first < 1 or last < first:
            raise ValueError(f"`pages` must look like `3` or `1-5,9`, not {pages!r}.")
        if last - first >= MAX_PAGES or len(numbers) > MAX_PAGES:
            raise ValueError(f"At most {MAX_PAGES} pages can be read at once.")
        numbers.update(range(first, last + 1))
    if len(numbers) > MAX_PAGES:
        raise ValueError(f"At most {MAX_PAGES} pages can be read at once.")
    return tuple(sorted(numbers))


class PdfFile(Struct, frozen=True):
    """A PDF that is to be read."""

    data: bytes
    name: str
    path: Path
    pages: str | None
    """As the call names them; None for the first `MAX_PAGES`."""


async def pdf_outcome(file: PdfFile) -> ToolOutcome:
    """Return the text of the chosen pages.

    Raises:
        ToolError: the file is damaged, password-protected or too large, or lacks a page.
    """
    data, name = file.data, file.name
    if len(data) > MAX_PDF_BYTES:
        raise ToolError(f"{name} is too large to read ({len(data):,} bytes).")
    chosen = page_numbers(file.pages) if file.pages else None
    request = {"kind": "pdf", "pages": chosen or MAX_PAGES, "max_chars": MAX_CHARS + 1}
    try:
        answer = await read_document(data, request)
    except UnreadableDocument as error:
        raise ToolError(f"{name} {error}.") from error
    if problem := answer.get("problem"):
        raise ToolError(f"{name} {problem}.")
    count, texts = answer["count"], answer.get("texts", [])
    numbers = chosen or tuple(range(1, len(texts) + 1))
    beyond = next((number for number in numbers if number > count), None)
    if beyond is not None:
        raise ToolError(f"{name} has {count} pages; there is no page {beyond}.")
    return _outcome(texts, numbers, count, name, file.path, len(data))


def _outcome(
    texts: list[str], chosen: tuple[int, ...], count: int, name: str, path: Path, size: int
) -> ToolOutcome:
    notes = [f"{count} page{'s' * (count != 1)}"]
    parts = []
    room = MAX_CHARS
    for number, text in zip(chosen, texts, strict=True):
        if room <= 0:
            notes.append(f"page {number} and later left out for length; choose with `pages`")
            break
        parts.append(f"--- page {number} of {count} ---\n{text[:room] or '(no text)'}")
        if len(text) > room:
            notes.append(f"page {number} cut for length")
        room -= len(text)
    if not any(texts):
        notes.append("no text on these pages; they are probably scanned images")
    if chosen and chosen == tuple(range(1, len(chosen) + 1)) and len(chosen) < count:
        notes.append(f"more pages: pages={len(chosen) + 1}-{min(count, 2 * len(chosen))}")
    body = "\n\n".join(parts)
    return ToolOutcome(
        f"{body}\n\n[{name}: {'; '.join(notes)}]",
        tool_response={
            "type": "pdf",
            "file": {"filePath": str(path), "originalSize": size, "pages": list(chosen)},
        },
    )
