"""The process that reads one document that is not trusted: a web page or a PDF.

Started with an empty environment; imports nothing of this program. Standard input
receives one line of JSON, the request, and then the document. Standard output gets one JSON object.
"""

from __future__ import annotations

import io
import json
import logging
import resource
import sys
from typing import Any

_NOT_CONTENT = (
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "object",
    "canvas",
)


def main() -> None:
    """Read the document that standard input provides."""
    request = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_s"], request["cpu_s"]))
    data = sys.stdin.buffer.read()
    if request["kind"] == "pdf":
        answer = _pdf(data, request["pages"], request["max_chars"])
    else:
        reader = _markdown if request["kind"] == "html" else _text
        answer = {"text": reader(data, request["charset"])[: request["max_chars"]]}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))


def _text(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):  # unknown, or not for text (`zlib`, `idna`)
        return data.decode("utf-8", "replace")


def _markdown(html: bytes, charset: str | None) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    try:
        soup = BeautifulSoup(html, "html.parser", from_encoding=charset)
    except Exception:  # noqa: BLE001 - whatever the parser raises, the source can be read
        return _text(html, charset)
    for element in soup.find_all(_NOT_CONTENT):
        element.decompose()
    title = soup.title.extract().get_text(" ", strip=True) if soup.title else ""
    if soup.head:
        soup.head.decompose()
    try:
        text: str = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(soup)
    except Exception:  # noqa: BLE001 - nested too deeply, or a number that cannot be read
        text = soup.get_text("\n", strip=True)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    body = "\n".join(
        line for number, line in enumerate(lines) if line or (number and lines[number - 1])
    )
    return f"# {title}\n\n{body}" if title and not body.startswith(f"# {title}") else body


def _pdf(data: bytes, pages: list[int] | int, max_chars: int) -> dict[str, Any]:
    """Return the number of pages, and the text of the given ones; of the first ones for a number.

    Without texts if a page is missing. `problem` tells why the file cannot be read.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"problem": "is protected by a password"}
        count = len(reader.pages)
        numbers = range(1, min(count, pages) + 1) if isinstance(pages, int) else pages
        if any(number > count for number in numbers):
            return {"count": count}
        texts = [reader.pages[number - 1].extract_text().strip() for number in numbers]
    except PyPdfError as error:
        return {"problem": f"is not a readable PDF: {error}"}
    except Exception as error:  # noqa: BLE001 - a damaged file can fail anywhere in the parser
        name = type(error).__name__
        return {"problem": f"could not be read as a PDF ({name}); it may be damaged"}
    return {"count": count, "texts": [text[:max_chars] for text in texts]}


if __name__ == "__main__":
    main()
