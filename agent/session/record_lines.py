"""Lines of a transcript: JSON objects that begin with a checksum, read forwards or backwards.

    {"c":"<16 hex digits>","v":1,"seq":7,"at":"2026-01-31T12:00:00.000Z","kind":"mode",…}\n

The checksum covers all bytes after it, so it is verified without parsing; the line is plain JSON
for other programs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from msgspec import Struct

FORMAT_VERSION: Final = 1
_PREFIX: Final = b'{"c":"'
_BODY_AT: Final = len(_PREFIX) + 16 + len(b'",')
_BLOCK: Final = 1 << 16


class Line(Struct, frozen=True):
    """One verified line."""

    seq: int
    timestamp: str
    """UTC, ISO 8601."""
    version: int
    data: Mapping[str, Any]
    offset: int
    """Byte offset of the line's start in the file."""


class DamagedLine(Struct, frozen=True):
    """A line that is damaged, or not written by this program."""

    offset: int
    length: int
    reason: Literal["checksum", "not a record", "torn"]


def encode(
    data: Mapping[str, Any],
    *,
    seq: int,
    now: datetime,
    redact: Callable[[str], str] = lambda text: text,
) -> bytes:
    """Return the line for a record, including the newline; `redact` gets its JSON text.

    Raises:
        TypeError: the data is not JSON.
    """
    timestamp = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    # A copied record keeps its original time, but not its number.
    fact = {key: value for key, value in data.items() if key not in ("v", "seq")}
    record = {"v": FORMAT_VERSION, "seq": seq, "at": timestamp, **fact}
    text = redact(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    try:
        body = text.encode()
    except UnicodeEncodeError:
        # A lone surrogate, which a model can write, can only be encoded as an escape.
        body = json.dumps(json.loads(text), separators=(",", ":")).encode()
    return b"".join((_PREFIX, _checksum(body[1:]), b'",', body[1:], b"\n"))


def decode(raw: bytes, offset: int) -> Line | DamagedLine:
    """Verify and parse one line, without its newline."""
    body = raw[_BODY_AT:]
    if not raw.startswith(_PREFIX) or raw[len(_PREFIX) : _BODY_AT] != _checksum(body) + b'",':
        return DamagedLine(offset, len(raw), "checksum")
    try:
        data = json.loads(b"{" + body)
        return Line(int(data["seq"]), str(data["at"]), int(data["v"]), data, offset)
    except (ValueError, KeyError, TypeError, RecursionError):
        return DamagedLine(offset, len(raw), "not a record")


def read_forwards(path: Path, *, start: int = 0) -> Iterator[Line | DamagedLine]:
    """Yield the lines from a line's offset on. Raises OSError."""
    with path.open("rb") as stream:
        stream.seek(start)
        offset = start
        for raw in stream:
            if raw.endswith(b"\n"):
                yield decode(raw[:-1], offset)
            else:
                yield DamagedLine(offset, len(raw), "torn")
            offset += len(raw)


def read_backwards(path: Path, *, end: int | None = None) -> Iterator[Line | DamagedLine]:
    """Yield the lines before `end` (a line's offset, or the end of the file), last one first.

    Needs memory for one line and one block. Raises OSError.
    """
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        yield from _lines_backwards(stream, size if end is None else min(end, size))


def _lines_backwards(stream: BinaryIO, end: int) -> Iterator[Line | DamagedLine]:
    position = end
    pieces: list[bytes] = []  # of the line that continues into the previous block, last piece first
    is_last = True
    while position > 0:
        start = max(0, position - _BLOCK)
        stream.seek(start)
        parts = stream.read(position - start).split(b"\n")
        line_at = position
        for part in reversed(parts[1:]):
            line_at -= len(part)
            line = _decode_line([*pieces, part], line_at, is_last)
            pieces, is_last = [], False
            if line is not None:
                yield line
            line_at -= 1  # the newline before it
        pieces.append(parts[0])
        position = start
    if pieces:
        line = _decode_line(pieces, 0, is_last)
        if line is not None:
            yield line


def _decode_line(pieces: list[bytes], offset: int, is_last: bool) -> Line | DamagedLine | None:
    raw = b"".join(reversed(pieces))
    if is_last:
        # The rest after the last newline, which is empty in a complete file.
        return DamagedLine(offset, len(raw), "torn") if raw else None
    return decode(raw, offset)


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8).hexdigest().encode()
