"""What a command printed: its start and end in memory, all of it in a file if it is long."""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import Final

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import Sanitizer

MEMORY_CHARS: Final = 30_000
"""Characters that are kept in memory; of longer output, the first and the last half of them."""
MAX_FILE_BYTES: Final = 1 << 30
"""A command that prints more is still read, but the file stops growing."""
_MAX_PENDING_CHARS: Final = 65_536
_NOTE: Final = compile_late(r"^\[… [\d,]+ characters, ([\d,]+) lines?, left out", re.MULTILINE)
_NOTE_LINES: Final = 3
"""The note in the text, with an empty line before and after it."""


def count_lines_left_out(text: str) -> int:
    """Return how many more lines an output has than its `text`, whose middle may be left out."""
    match = _NOTE.search(text)
    return int(match[1].replace(",", "")) - _NOTE_LINES if match else 0


class LineFolder:
    """Converts terminal output to plain lines: CR LF ends a line, CR alone overwrites it.

    The result does not depend on how the text is cut into chunks, except where a line longer than
    65,536 characters must be passed on before its end.
    """

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        """Start at the beginning of a line."""
        self._pending = ""

    def feed(self, text: str) -> str:
        """Return the complete lines; the last, unfinished one is kept until it is complete."""
        text = self._pending + text
        end = text.rfind("\n") + 1
        complete, self._pending = text[:end], text[end:]
        if "\r" in complete:
            complete = "".join(
                f"{_apply_carriage_returns(line)}\n" for line in complete[:-1].split("\n")
            )
        if len(self._pending) > _MAX_PENDING_CHARS:
            # A CR at the very end may be half of a CR LF, so it is kept.
            line_end = "\r" if self._pending.endswith("\r") else ""
            self._pending = _apply_carriage_returns(self._pending)
            if len(self._pending) > _MAX_PENDING_CHARS:
                complete += self._pending
                self._pending = ""
            self._pending += line_end
        return complete

    def finish(self) -> str:
        """Return the unfinished line."""
        pending, self._pending = self._pending, ""
        return _apply_carriage_returns(pending)


def _apply_carriage_returns(line: str) -> str:
    if "\r" not in line:
        return line
    return next((part for part in reversed(line.split("\r")) if part), "")


class ShellOutput:
    """Output of one command, decoded, folded into lines and cleaned of control sequences."""

    def __init__(self, path: Path) -> None:
        """`path` is the file for output that does not fit in memory; it must not exist."""
        self.path = path
        self.total_chars = 0
        self._total_lines = 0
        self.file_error: str | None = None
        """Why the file is incomplete, or None."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line_folder = LineFolder()
        self._sanitizer = Sanitizer()
        self._head = ""
        self._tail = ""
        self._descriptor: int | None = None
        self._file_bytes = 0
        self._taken_chars = 0
        self._is_closed = False

    def feed(self, data: bytes) -> str:
        """Append bytes; return them decoded but not sanitized, for live display."""
        text = self._decoder.decode(data)
        self._append(self._sanitizer.feed(self._line_folder.feed(text)))
        return text

    def close(self) -> None:
        """End the output; `feed` must not be called afterwards, reading still works."""
        if self._is_closed:
            return
        rest = (
            self._line_folder.feed(self._decoder.decode(b"", final=True))
            + self._line_folder.finish()
        )
        self._append(self._sanitizer.feed(rest))
        self._is_closed = True
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def is_whole(self) -> bool:
        """Whether `text` is everything."""
        return self.total_chars == len(self._head) + len(self._tail)

    @property
    def has_file(self) -> bool:
        """Whether the file exists."""
        return self._file_bytes > 0

    def text(self) -> str:
        """Return the output, its middle replaced by a note if it is too long."""
        if self.is_whole:
            return self._head + self._tail
        head, tail = self._head, self._tail
        # Cut at line ends, unless that would drop most of the text.
        if head.rfind("\n") > len(head) // 2:
            head = head[: head.rfind("\n") + 1]
        if -1 < tail.find("\n") < len(tail) // 2:
            tail = tail[tail.find("\n") + 1 :]
        left_out = self.total_chars - len(head) - len(tail)
        lines = self._total_lines - head.count("\n") - tail.count("\n")
        in_lines = f", {lines:,} line{'' if lines == 1 else 's'}," if lines else ""
        where = f"all of it is in {self.path}" if self.has_file else "it was not saved"
        if self.file_error:
            where += f"; {self.file_error}"
        note = f"[… {left_out:,} characters{in_lines} left out here; {where} …]"
        return f"{head.rstrip()}\n\n{note}\n\n{tail}"

    def take_new(self) -> tuple[str, int]:
        """Return the output since the last call, at most its last part, and the characters skipped.

        An unfinished last line is included; later output starts a new line.
        """
        self._append(self._sanitizer.feed(self._line_folder.finish()))
        new = self.total_chars - self._taken_chars
        self._taken_chars = self.total_chars
        if not new:
            return "", 0
        if self.is_whole:
            return (self._head + self._tail)[-new:], 0
        tail = self._tail[-new:]
        return tail, new - len(tail)

    def start_file(self) -> None:
        """Write everything to the file from now on, even if it is short."""
        if self._descriptor is None and not self._is_closed:
            self._open_file()

    def _append(self, text: str) -> None:
        if not text:
            return
        half = MEMORY_CHARS // 2
        # Before the file is opened, the tail holds everything the head does not.
        if self._descriptor is None and self.total_chars + len(text) > MEMORY_CHARS:
            self._open_file()
        self.total_chars += len(text)
        self._total_lines += text.count("\n")
        self._write(text)
        room = half - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if text:
            self._tail = (self._tail + text)[-half:]

    def _open_file(self) -> None:
        if self.file_error is not None:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._descriptor = os.open(self.path, flags, 0o600)
        except OSError as error:
            self.file_error = f"the file could not be made: {error.strerror}"
            return
        self._write(self._head + self._tail)

    def _write(self, text: str) -> None:
        if self._descriptor is None or self.file_error is not None:
            return
        view = memoryview(text.encode())
        if self._file_bytes + len(view) > MAX_FILE_BYTES:
            self.file_error = f"the file ends after {self._file_bytes:,} bytes"
            return
        try:
            while view:
                count = os.write(self._descriptor, view)
                view = view[count:]
                self._file_bytes += count
        except OSError as error:
            self.file_error = f"the file is incomplete: {error.strerror}"
