"""Text as stored in files: encoding, byte order mark and line endings, which edits retain."""

from __future__ import annotations

import codecs
from typing import Final, Literal

from msgspec import Struct

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1"]
LineEnding = Literal["\n", "\r\n"]

# The UTF-32 mark begins with the UTF-16 one, so it must be tested first.
_MARKS: Final[tuple[tuple[bytes, Encoding], ...]] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES: Final = 8_192
_TEXT_CONTROLS: Final = frozenset(b"\t\n\r\f\b\x1b")
_MAX_CONTROL_SHARE: Final = 0.1


class NotText(Exception):
    """The bytes are not text; the message names the evidence."""


class TextFile(Struct, frozen=True):
    """A decoded file; `encode` returns its bytes exactly."""

    text: str
    """With the line endings of the file and without its byte order mark."""
    encoding: Encoding = "utf-8"
    mark: bytes = b""
    """The byte order mark; empty when there is none."""

    @property
    def crlf_count(self) -> int:
        """How many lines end with CR LF."""
        return self.text.count("\r\n")

    @property
    def lf_count(self) -> int:
        """How many lines end with LF alone."""
        return self.text.count("\n") - self.crlf_count

    @property
    def line_ending(self) -> LineEnding:
        """The ending of most lines; LF if there are no lines."""
        return "\r\n" if self.crlf_count > self.lf_count else "\n"

    def notes(self) -> tuple[str, ...]:
        """Return notes about encoding and line endings; empty for UTF-8 with LF."""
        notes = []
        if self.encoding == "latin-1":
            notes.append("not valid UTF-8; read as Latin-1")
        elif self.encoding != "utf-8" or self.mark:
            notes.append(f"{self.encoding.upper()} with byte order mark")
        if self.crlf_count and self.lf_count:
            notes.append(f"mixed line endings: {self.crlf_count} CRLF, {self.lf_count} LF")
        elif self.crlf_count:
            notes.append("CRLF line endings")
        return tuple(notes)

    def encode(self, text: str) -> bytes:
        """Return a text as bytes in this file's encoding.

        Raises:
            UnicodeEncodeError: the encoding cannot represent a character.
        """
        return self.mark + text.encode(self.encoding)


def decode(data: bytes) -> TextFile:
    """Decode a file: by its byte order mark, else as UTF-8, else as Latin-1.

    Raises:
        NotText: the bytes are binary.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return TextFile(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError as error:
                raise NotText(f"it starts like {encoding.upper()} but is not valid") from error
    refuse_binary(data)
    try:
        return TextFile(data.decode("utf-8"))
    except UnicodeDecodeError:
        return TextFile(data.decode("latin-1"), "latin-1")


def refuse_binary(data: bytes) -> None:
    """Raise `NotText` when the start of the data has NUL bytes or too many control characters."""
    sample = data[:_SAMPLE_BYTES]
    if b"\0" in sample:
        raise NotText("it contains NUL bytes")
    controls = sum(1 for byte in sample if byte < 0x20 and byte not in _TEXT_CONTROLS)
    if controls > len(sample) * _MAX_CONTROL_SHARE:
        raise NotText("it is full of control characters")
