"""A web page as bounded Markdown or text."""

from __future__ import annotations

import codecs
from typing import Final

from agent.tools.web.fetch import Page

MAX_HTML_BYTES: Final = 1024 * 1024
"""HTML beyond this is not converted: it would take seconds, and no page contains that much text."""

_NOT_CONTENT: Final = (
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "object",
    "canvas",
)
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


def page_text(page: Page) -> str:
    """Return the page's text: HTML as Markdown, other text as it is.

    Raises:
        NotReadable: it is neither.
    """
    kind = page.content_type
    if kind in ("text/html", "application/xhtml+xml") or (not kind and _looks_like_html(page.body)):
        return _markdown(page.body[:MAX_HTML_BYTES], page.charset)
    is_text = kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml"))
    if is_text or (not kind and b"\0" not in page.body[:8_192]):
        return page.body.decode(_codec(page.charset), "replace")
    raise NotReadable(f"{kind or 'unknown binary content'}, {len(page.body):,} bytes")


def _looks_like_html(body: bytes) -> bool:
    start = body[:1_024].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html")) or b"<html" in start


def _codec(charset: str | None) -> str:
    try:
        return codecs.lookup(charset or "utf-8").name
    except LookupError:
        return "utf-8"


def _markdown(html: bytes, charset: str | None) -> str:
    # Take 0.1 s to import, and most sessions fetch nothing.
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser", from_encoding=charset)
    for element in soup.find_all(_NOT_CONTENT):
        element.decompose()
    title = soup.title.extract().get_text(" ", strip=True) if soup.title else ""
    if soup.head:
        soup.head.decompose()
    try:
        text: str = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(soup)
    except RecursionError:
        # Nested too deeply to convert; the text can still be extracted.
        text = soup.get_text("\n", strip=True)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    body = "\n".join(
        line for number, line in enumerate(lines) if line or (number and lines[number - 1])
    )
    return f"# {title}\n\n{body}" if title and not body.startswith(f"# {title}") else body
