"""One session's file, open for appending: locked, repaired at its end, flushed on request."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final, Self

from agent.errors import SessionError, SessionLocked
from agent.session.record_lines import (
    FORMAT_VERSION,
    DamagedLine,
    Line,
    encode,
    read_backwards,
    read_forwards,
)
from permissions.base.files.private_file import make_private_dir, sync_dir

MAX_BACKLOG_BYTES: Final = 64_000_000
"""Largest buffer while the disk accepts no data; beyond it, the oldest lines are discarded."""

Clock = Callable[[], datetime]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Transcript:
    """The writer of a session, used by one process at a time; lines are only appended."""

    def __init__(
        self, path: Path, descriptor: int, lock: int, next_seq: int, *, clock: Clock
    ) -> None:
        """Call `create` or `open` instead."""
        self.path = path
        self.repairs: tuple[str, ...] = ()
        """What was repaired on opening, for users."""
        self._descriptor: int | None = descriptor
        self._lock_descriptor = lock
        self._next_seq = next_seq
        self._clock = clock
        self._size = os.fstat(descriptor).st_size
        self._dirty = False
        self._backlog: deque[bytes] = deque()
        self._io = Lock()
        self._disk = Lock()

    @classmethod
    def create(cls, path: Path, *, clock: Clock = _utc_now) -> Self:
        """Create a new, empty transcript (0600, in directories of 0700) and lock it.

        Raises:
            SessionError: it exists already, or cannot be created.
        """
        lock: int | None = None
        try:
            make_private_dir(path.parent)
            lock = _take_lock(path)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            if lock is not None:
                os.close(lock)
            raise SessionError(_failure_message("created", path, error)) from error
        sync_dir(path.parent)
        return cls(path, descriptor, lock, 0, clock=clock)

    @classmethod
    def open(cls, path: Path, *, clock: Clock = _utc_now) -> Self:
        """Open a transcript for appending; a torn last line is cut off and reported in `repairs`.

        Raises:
            SessionLocked: another process has it open.
            SessionError: it cannot be opened, or a newer version of the program wrote it.
        """
        lock: int | None = None
        try:
            lock = _take_lock(path)
            flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags)
        except OSError as error:
            if lock is not None:
                os.close(lock)
            raise SessionError(_failure_message("opened", path, error)) from error
        try:
            repairs = _repair_end(path, descriptor)
            last = _last_line(path)
            if last is not None and last.version > FORMAT_VERSION:
                raise SessionError(
                    f"The session {path.stem} was written by a newer version of this program "
                    f"(format {last.version}; this one knows {FORMAT_VERSION}). Update to "
                    "continue it, or use --fork-session to continue in a copy."
                )
        except OSError as error:
            os.close(descriptor)
            os.close(lock)
            raise SessionError(_failure_message("opened", path, error)) from error
        except SessionError:
            os.close(descriptor)
            os.close(lock)
            raise
        transcript = cls(path, descriptor, lock, last.seq + 1 if last else 0, clock=clock)
        transcript.repairs = repairs
        return transcript

    @property
    def next_seq(self) -> int:
        """Number of the next record."""
        return self._next_seq

    @property
    def unsaved_count(self) -> int:
        """Number of records in memory that could not be written."""
        return len(self._backlog)

    def append(
        self,
        record: Mapping[str, object],
        *,
        sync: bool = False,
        redact: Callable[[str], str] = lambda text: text,
    ) -> None:
        """Append one record; with `sync`, return only when it is on disk.

        A record that cannot be written stays in memory, and is retried before the next one.

        Raises:
            SessionError: it cannot be written (disk full, read-only, gone). Nothing is lost yet,
                and the conversation may continue.
        """
        line = encode(record, seq=self._next_seq, now=self._clock(), redact=redact)
        with self._io:
            self._next_seq += 1
            self._backlog.append(line)
            if len(self._backlog) > 1:
                self._trim_backlog()
            self._write_backlog()
        if sync:
            self._flush_to_disk()

    def skip_to(self, seq: int) -> None:
        """Skip numbers, so that readers detect missing records."""
        with self._io:
            self._next_seq = max(self._next_seq, seq)

    def sync(self) -> None:
        """Wait until all appended records are on disk. Raises SessionError."""
        with self._io:
            self._write_backlog()
        self._flush_to_disk()

    async def flush(self) -> None:
        """Like `sync`, without blocking the event loop. Raises SessionError."""
        if self._dirty or self._backlog:
            await asyncio.to_thread(self.sync)

    def records(self) -> Iterator[Line | DamagedLine]:
        """Yield the lines of the file, in order. Raises OSError."""
        yield from read_forwards(self.path)

    def close(self) -> None:
        """Write pending records, if possible, and release the session."""
        with contextlib.suppress(SessionError):
            self.sync()
        with self._disk, self._io:
            if self._descriptor is None:
                return
            os.close(self._descriptor)
            os.close(self._lock_descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _write_backlog(self) -> None:
        while self._backlog:
            self._write(self._backlog[0])
            self._backlog.popleft()

    def _write(self, line: bytes) -> None:
        if self._descriptor is None:
            raise SessionError(f"The session {self.path.stem} is closed.")
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            # A partial line within the file would hide the records after it.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise SessionError(_failure_message("written", self.path, error)) from error
        self._size += len(line)
        self._dirty = True

    def _flush_to_disk(self) -> None:
        # A separate lock from `_io`, so that an append on the event loop does not wait for
        # another thread's disk flush.
        with self._disk:
            if not self._dirty or self._descriptor is None:
                return
            self._dirty = False
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                self._dirty = True
                raise SessionError(_failure_message("written", self.path, error)) from error

    def _trim_backlog(self) -> None:
        size = sum(map(len, self._backlog))
        while size > MAX_BACKLOG_BYTES and len(self._backlog) > 1:
            size -= len(self._backlog.popleft())


def lock_path(path: Path) -> Path:
    """Return the file whose lock shows that a session is open."""
    return path.with_name(f".{path.stem}.lock")


def is_open(path: Path) -> bool:
    """Return whether a process has the session open; False if that is unknown."""
    try:
        descriptor = os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _take_lock(path: Path) -> int:
    """Return a descriptor that holds the session's lock. Raises SessionLocked and OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(lock_path(path), flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 32, 0).strip()
        os.close(descriptor)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            pid = int(holder) if holder.isdigit() else None
            raise SessionLocked(path.stem, pid) from error
        raise
    with contextlib.suppress(OSError):  # the process id is informative; only the lock matters
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _repair_end(path: Path, descriptor: int) -> tuple[str, ...]:
    last = next(read_backwards(path), None)
    if not isinstance(last, DamagedLine) or last.reason != "torn":
        return ()
    os.ftruncate(descriptor, last.offset)
    os.fsync(descriptor)
    return (
        f"The last record of session {path.stem} was cut off in the middle "
        f"({last.length:,} bytes, never finished): it was removed.",
    )


def _last_line(path: Path) -> Line | None:
    return next((line for line in read_backwards(path) if isinstance(line, Line)), None)


def _failure_message(verb: str, path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    hints = {
        errno.ENOSPC: " Free some space; until then the conversation is only in memory.",
        errno.EDQUOT: " Your disk quota is used up; until then it is only in memory.",
        errno.EROFS: " The folder is read-only; set AGENT_TUI_HOME to another one.",
        errno.EACCES: " Set AGENT_TUI_HOME to another folder.",
        errno.ENOENT: " Its folder cannot be created: set HOME or AGENT_TUI_HOME to another one.",
        errno.EFBIG: " A file size limit of this system was reached.",
    }
    hint = hints.get(error.errno or 0, "")
    return f"The session file {path} cannot be {verb}: {reason}.{hint}"
