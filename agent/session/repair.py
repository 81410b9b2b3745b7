"""Repairs a transcript by a clean copy of its readable records; the original is preserved."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import SessionError
from agent.session.record_json import UnreadableRecord, from_json, to_json
from agent.session.record_lines import DamagedLine, Line, read_forwards
from agent.session.records import SessionHeader
from agent.session.store import SessionStore
from agent.session.transcript import Transcript, lock_path


class RepairReport(Struct, frozen=True):
    """The result of a check, and of a repair."""

    session_id: str
    good: int
    damaged: int
    unknown: int
    """Valid records of kinds that this version does not know; they are kept."""
    torn_bytes: int
    has_header: bool
    backup: Path | None = None
    """The original file, if a clean copy replaced it."""

    @property
    def is_whole(self) -> bool:
        """Whether there was nothing to repair."""
        return not self.damaged and not self.torn_bytes and self.has_header


def check(session_id: str, path: Path) -> RepairReport:
    """Check a whole transcript. Raises SessionError if it cannot be read."""
    good = damaged_count = unknown = torn = 0
    has_header = False
    try:
        for line in read_forwards(path):
            match line:
                case DamagedLine(reason="torn"):
                    torn = line.length
                case DamagedLine():
                    damaged_count += 1
                case Line():
                    try:
                        record = from_json(line.data)
                    except UnreadableRecord:
                        damaged_count += 1
                        continue
                    good += record is not None
                    unknown += record is None
                    has_header = has_header or isinstance(record, SessionHeader)
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    return RepairReport(session_id, good, damaged_count, unknown, torn, has_header)


def repair(store: SessionStore, session_id: str) -> RepairReport:
    """Replace a damaged transcript by a clean copy; leave an intact one unchanged.

    Raises:
        SessionLocked: another process has the session open.
        SessionError: it cannot be read or written.
    """
    info = store.get(session_id)
    report = check(info.id, info.path)
    if report.is_whole:
        return report
    backup = info.path.with_name(f"{info.path.name}.damaged")
    fresh_path = info.path.with_name(f".{info.id}.repair")
    with contextlib.suppress(OSError):
        fresh_path.unlink()
    _copy(info.path, backup)  # before opening, which cuts off an incomplete last line
    # The lock is held from here on, so that no other process appends.
    with Transcript.open(info.path), Transcript.create(fresh_path) as fresh:
        if not report.has_header:
            fresh.append(to_json(SessionHeader(info.id, "", "", "")))
        for line in read_forwards(info.path):
            if isinstance(line, Line):
                fresh.skip_to(line.seq)
                fresh.append(line.data)
        fresh.sync()
        fresh_path.replace(info.path)
    with contextlib.suppress(OSError):
        lock_path(fresh_path).unlink()
    return replace(report, backup=backup)


def _copy(source: Path, target: Path) -> None:
    try:
        target.unlink(missing_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as copy, source.open("rb") as original:
            shutil.copyfileobj(original, copy)
    except OSError as error:
        raise SessionError(f"{source} cannot be copied aside: {error.strerror}.") from error
