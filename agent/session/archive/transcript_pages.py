"""Reads parts of a transcript as Markdown, backwards from an offset or forwards from one.

The time depends on the length of the part, not on that of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agent.errors import SessionError
from agent.session.archive.transcript_export import parts_of
from agent.session.record_json import record_of
from agent.session.record_lines import DamagedLine, Line, decode, read_backwards


class TranscriptPage(Struct, frozen=True):
    """A sequence of records."""

    text: str
    start: int
    """Byte offset of the first record; 0 is the start of the file."""
    end: int
    """Byte offset after the last record."""


def page_before(path: Path, end: int | None, *, chars: int) -> TranscriptPage:
    """Return about `chars` characters before an offset, or before the end of the file.

    Raises SessionError.
    """
    try:
        return _read_page(path, path.stat().st_size if end is None else end, chars)
    except OSError as error:
        raise _unreadable(path, error) from error


def page_after(path: Path, start: int) -> TranscriptPage:
    """Return the complete lines after an offset. Raises SessionError."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read()
    except OSError as error:
        raise _unreadable(path, error) from error
    whole = data[: data.rfind(b"\n") + 1]
    parts = [part for raw in whole.splitlines() for part in _parts(decode(raw, 0))]
    return TranscriptPage("\n\n".join(parts), start, start + len(whole))


def _read_page(path: Path, end: int, chars: int) -> TranscriptPage:
    parts: list[str] = []
    start, size = end, 0
    for line in read_backwards(path, end=end):
        if isinstance(line, DamagedLine) and line.reason == "torn":
            start = end = line.offset
            continue
        start = line.offset
        new_parts = list(_parts(line))
        parts[:0] = new_parts
        size += sum(map(len, new_parts))
        if size >= chars:
            break
    return TranscriptPage("\n\n".join(parts), start, end)


def _parts(line: Line | DamagedLine) -> Iterator[str]:
    record = record_of(line)
    yield from parts_of([record] if record is not None else [])


def _unreadable(path: Path, error: OSError) -> SessionError:
    return SessionError(f"The session {path} cannot be read: {error.strerror}.")
