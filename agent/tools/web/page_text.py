"""A web page as bounded Markdown or text."""

from __future__ import annotations

from typing import Final

from agent.tools.files.document import UnreadableDocument, read_document
from agent.tools.web.fetch import MAX_BYTES, Page

MAX_HTML_BYTES: Final = 1024 * 1024
"""HTML beyond this is not converted: it would take seconds, and no page contains that much text."""

_TEXT_TYPES: Final = frozenset(
    {
        "application/json",
        "application/xml",
        "application/javascript",
        "application/x-ndjson",
        "application/yaml",
        "application/toml",
        "application/x-sh",
    }
)


class NotReadable(Exception):
    """The page is not text; the message names what it is."""


async def page_text(page: Page) -> str:
    """Return the page's text: HTML as Markdown, other text as it is.

    Raises:
        NotReadable: it is neither, or exceeds a limit.
    """
    kind = page.content_type
    if kind in ("text/html", "application/xhtml+xml") or (not kind and _looks_like_html(page.body)):
        return await _read("html", page.body[:MAX_HTML_BYTES], page.charset)
    is_text = kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))
    if is_text or (not kind and b"\0" not in page.body[:8_192]):
        return await _read("text", page.body, page.charset)
    raise NotReadable(f"{kind or 'unknown binary content'}, {len(page.body):,} bytes")


def _looks_like_html(body: bytes) -> bool:
    start = body[:1_024].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html")) or b"<html" in start


async def _read(kind: str, data: bytes, charset: str | None) -> str:
    request = {"kind": kind, "charset": charset, "max_chars": MAX_BYTES}
    try:
        return str((await read_document(data, request))["text"])
    except UnreadableDocument as error:
        raise NotReadable(f"it {error}") from error
