"""Splits long Markdown, as it arrives, into parts that can be laid out separately. Pure.

A part ends where a top-level block begins, so that the rows of the parts equal those of the whole;
only a very long code fence is split in its middle. Each line is read once, without parsing.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late

PART_CHARS: Final = 4_000
"""A part ends at the first possible position after this many characters."""
FENCE_CHARS: Final = 4 * PART_CHARS
"""A code fence is split when its part is longer than this."""

_FENCE: Final = compile_late(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})")
_ITEM: Final = compile_late(r" {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
_PARAGRAPH: Final = compile_late(r"#{1,6} |[^\W\d_]|\*\*[^\s*]")
"""Beginnings of lines before which a split is safe: a heading, a letter, bold text."""
_HTML: Final = compile_late(
    r" {0,3}<(?:(!--)|(\?)|(![A-Za-z])|(!\[CDATA\[)|(?:pre|script|style|textarea)\b)", re.IGNORECASE
)
_HTML_ENDS: Final = ("-->", "?>", ">", "]]>")
_TAG_END: Final = compile_late(r"</(?:pre|script|style|textarea)>", re.IGNORECASE)
"""The end of HTML blocks that may contain blank lines."""


class MarkdownPart(Struct, frozen=True):
    """A part of a text."""

    text: str
    """Complete Markdown; a part of a split fence is a fence itself."""
    continues: bool = False
    """Whether it continues the fence of the previous part."""


class MarkdownParts:
    """Splits text that arrives in pieces; the result does not depend on the pieces."""

    def __init__(self) -> None:
        """Start with an empty text."""
        self._pieces: list[str] = []
        self._open = ""
        self._continues = False
        self._scanned_chars = 0
        self._was_blank = False
        self._is_in_item = False
        self._html_end: re.Pattern[str] | None = None
        self._mark = ""
        self._opening = ""
        self._is_nested = False

    @property
    def whole(self) -> str:
        """The whole text so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def current(self) -> MarkdownPart:
        """The unfinished part."""
        return MarkdownPart(self._open, self._continues)

    def feed(self, text: str) -> list[MarkdownPart]:
        """Append text; return the parts that it completes, in order."""
        self._pieces.append(text)
        self._open += text
        parts: list[MarkdownPart] = []
        while (end := self._open.find("\n", self._scanned_chars)) >= 0:
            start, self._scanned_chars = self._scanned_chars, end + 1
            part = self._line(self._open[start:end], start)
            if part is not None:
                parts.append(part)
        return parts

    def _line(self, line: str, start: int) -> MarkdownPart | None:
        """Process a line that begins at `start`; return the part that ends with or before it."""
        if self._mark:
            return self._line_in_fence(line, start)
        if self._is_html(line):
            self._was_blank = False
            return None
        if not line.strip():
            self._was_blank = True
            return None
        part = None
        if self._was_blank and _PARAGRAPH.match(line):
            # An unindented line after a blank line that is not an item ends the list.
            self._is_in_item = False
            if start >= PART_CHARS:
                part = self._cut(start)
        elif _ITEM.match(line):
            self._is_in_item = True
        self._was_blank = False
        if fence := _FENCE.match(line):
            self._mark, self._opening = fence[2], line + "\n"
            self._is_nested = self._is_in_item and bool(fence[1])
        return part

    def _is_html(self, line: str) -> bool:
        """Whether a line belongs to an HTML block that may contain blank lines."""
        if self._html_end is None:
            html = _HTML.match(line)
            if html is None:
                return False
            self._html_end = _html_end(html)
        if self._html_end.search(line):
            self._html_end = None
        return True

    def _line_in_fence(self, line: str, start: int) -> MarkdownPart | None:
        content = line.strip()
        is_close = content == content[:1] * len(content) and content.startswith(self._mark)
        if not self._is_nested and line.startswith(("    ", "\t")):
            is_close = False
        has_left = self._is_nested and bool(content) and not line.startswith((" ", "\t"))
        if is_close or has_left:
            self._mark = ""
            self._was_blank = False
            return self._line(line, start) if has_left and not is_close else None
        if self._is_nested or self._is_in_item or self._scanned_chars < FENCE_CHARS:
            return None
        head = MarkdownPart(self._open[: self._scanned_chars] + self._mark + "\n", self._continues)
        self._open = self._opening + self._open[self._scanned_chars :]
        self._scanned_chars = len(self._opening)
        self._continues = True
        return head

    def _cut(self, start: int) -> MarkdownPart:
        head = MarkdownPart(self._open[:start], self._continues)
        self._open = self._open[start:]
        self._scanned_chars -= start
        self._continues = False
        return head


def _html_end(opening: re.Match[str]) -> re.Pattern[str]:
    group = opening.lastindex
    return _TAG_END if group is None else re.compile(re.escape(_HTML_ENDS[group - 1]))


def split_text(text: str) -> list[MarkdownPart]:
    """Return the parts of a whole text; at least one."""
    parts = MarkdownParts()
    finished_parts = parts.feed(text)
    return [*finished_parts, parts.current]
