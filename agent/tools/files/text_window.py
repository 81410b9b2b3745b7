"""A numbered window of lines, bounded in lines, line length and total size, as Read shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import BinaryIO, Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late

DEFAULT_LINES: Final = 2_000
MAX_LINE_CHARS: Final = 2_000
MAX_CHARS: Final = 100_000

_CHUNK_BYTES: Final = 1 << 20
_MAX_HIDDEN_LISTED: Final = 5
# Invisible characters; without joiners, which emoji and some scripts need.
_HIDDEN: Final = compile_late(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)


class Window(Struct, frozen=True):
    """The lines shown, and a note about the rest."""

    lines: tuple[str, ...]
    """Without line ends, cut to `MAX_LINE_CHARS`."""
    first: int
    """1-based number of the first line shown."""
    total: int
    """Lines in the whole text."""
    cut_lines: tuple[int, ...]
    """Numbers of lines that are shown only in part."""
    hidden: tuple[str, ...]
    """Places of invisible and control characters, such as `line 3: U+202E`."""

    @property
    def last(self) -> int:
        """1-based number of the last line shown; `first - 1` if there is none."""
        return self.first + len(self.lines) - 1

    def numbered_text(self) -> str:
        """Return the lines as `cat -n` prints them."""
        return "\n".join(
            f"{number:6}\t{line}" for number, line in enumerate(self.lines, self.first)
        )

    def notes(self) -> tuple[str, ...]:
        """Return what was left out, for the model."""
        notes = []
        if self.last < self.total:
            notes.append(
                f"lines {self.first}-{self.last} of {self.total:,}; "
                f"continue with offset={self.last + 1}"
            )
        elif self.first > 1:
            notes.append(f"lines {self.first}-{self.last} of {self.total:,}")
        if self.cut_lines:
            numbers = ", ".join(map(str, self.cut_lines[:5])) + (
                ", …" if len(self.cut_lines) > 5 else ""
            )
            notes.append(f"longer than {MAX_LINE_CHARS:,} characters and cut: line {numbers}")
        if self.hidden:
            notes.append("invisible or control characters: " + ", ".join(self.hidden))
        return tuple(notes)


def window_of(
    text: str, offset: int | None, limit: int | None, max_chars: int = MAX_CHARS
) -> Window:
    """Return a window of a text in memory; `offset` is 1-based."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    first = offset or 1
    window_lines = lines[first - 1 : first - 1 + (limit or DEFAULT_LINES)]
    return _limit_window(window_lines, first, len(lines), max_chars)


def window_of_stream(
    stream: BinaryIO,
    encoding: str,
    offset: int | None,
    limit: int | None,
    *,
    max_chars: int = MAX_CHARS,
    is_aborted: Callable[[], bool],
) -> Window:
    """Return a window of a text too large to load; memory use stays bounded."""
    first = offset or 1
    end = first + (limit or DEFAULT_LINES)
    window_lines: list[str] = []
    partial = b""
    wanted_chars = 0
    line_number = 1
    ends_open = False
    while not is_aborted() and (chunk := stream.read(_CHUNK_BYTES)):
        ends_open = not chunk.endswith(b"\n")
        newlines = chunk.count(b"\n")
        if line_number + newlines < first or line_number >= end or wanted_chars > MAX_CHARS:
            line_number += newlines
            continue
        parts = chunk.split(b"\n")
        for index, part in enumerate(parts):
            if first <= line_number < end and wanted_chars <= MAX_CHARS:
                # A character has at most four bytes; a longer line is cut anyway.
                partial = (partial + part)[: 4 * (MAX_LINE_CHARS + 1)]
                if index < len(parts) - 1:
                    line = partial.decode(encoding, "replace").removesuffix("\r")
                    window_lines.append(line)
                    wanted_chars += min(len(line), MAX_LINE_CHARS)
                    partial = b""
            if index < len(parts) - 1:
                line_number += 1
    if partial:
        window_lines.append(partial.decode(encoding, "replace"))
    return _limit_window(window_lines, first, line_number - 1 + ends_open, max_chars)


def _limit_window(window_lines: Iterable[str], first: int, total: int, max_chars: int) -> Window:
    lines: list[str] = []
    cut: list[int] = []
    hidden: list[str] = []
    chars = 0
    for number, line in enumerate(window_lines, first):
        if len(line) > MAX_LINE_CHARS:
            cut.append(number)
            line = line[:MAX_LINE_CHARS] + "…"
        chars += len(line) + 8
        if lines and chars > max_chars:
            break
        lines.append(line)
        if len(hidden) < _MAX_HIDDEN_LISTED and (match := _HIDDEN.search(line)):
            hidden.append(f"line {number}: U+{ord(match.group()):04X}")
    return Window(
        tuple(lines), first, total, tuple(n for n in cut if n < first + len(lines)), tuple(hidden)
    )
