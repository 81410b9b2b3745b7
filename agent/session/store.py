"""Stores sessions, and finds them by project or id."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.errors import SessionError, SeveralSessions
from agent.session.checkpoints.blobs import copy_snapshots
from agent.session.record_json import to_json
from agent.session.record_lines import DamagedLine, Line, read_forwards
from agent.session.records import GrantsRecord, SessionHeader, TitleRecord
from agent.session.transcript import Transcript, is_open, lock_path
from permissions.base.files.directory_trees import remove_tree
from permissions.base.files.temporary_directories import make_owned_directory
from permissions.base.text.late_pattern import compile_late

_ID: Final = compile_late(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID_START: Final = compile_late(r"[0-9a-f][0-9a-f-]{3,35}")
_SUFFIX: Final = ".jsonl"
_SLUG_CHARACTERS: Final = 80
_NAMED: Final = frozenset({"message", "prompt", "title", "mail"})
"""Kinds of records that a session with only unsent text does not have."""


class SessionInfo(Struct, frozen=True):
    """A session as listed by the file system, without reading the file."""

    id: str
    path: Path
    modified: datetime
    """Time of the last change; UTC."""
    size_bytes: int


class Session(Struct, frozen=True):
    """A session open for appending."""

    id: str
    transcript: Transcript
    temporary_home: Path | None = None
    """An agent's home created for this session only; None for sessions in the usual directory."""
    copied_bytes: int = 0
    """Initial size of an unrequested copy; 0 for every other session."""
    is_stored: bool = True
    """Whether its files are kept when it ends."""

    @property
    def path(self) -> Path:
        """The transcript's file."""
        return self.transcript.path

    @property
    def directory(self) -> Path:
        """Directory for the session's other files (results, checkpoints); it may not exist yet."""
        return self.path.with_suffix("")

    def close(self) -> None:
        """Release the session for other processes."""
        self.transcript.close()

    @property
    def is_unused_copy(self) -> bool:
        """Whether it is an unrequested copy in which nothing was sent or typed."""
        return self.copied_bytes > 0 and self._is_unused

    @property
    def _is_unused(self) -> bool:
        has_any = has_content(self.path, start=self.copied_bytes)
        return self.transcript.unsaved_count == 0 and not has_any

    def finish(self) -> None:
        """Close the session at its end; remove its files if nothing was sent or typed, or if it is
        not stored."""
        if not self.is_stored or self._is_unused:
            with contextlib.suppress(OSError):
                _remove(self.path)
                if self.temporary_home is not None:
                    remove_tree(self.temporary_home)
        self.transcript.close()


class SessionStore:
    """All sessions under the agent's home: `sessions/<project>/<id>.jsonl`."""

    def __init__(self, agent_home: Path, *, version: str = "") -> None:
        """Read and create nothing yet; `version` is recorded in new sessions."""
        self.root = agent_home / "sessions"
        self._version = version

    def directory(self, project_dir: Path) -> Path:
        """Return the directory of a project's sessions."""
        return self.root / project_slug(project_dir)

    def create(
        self, project_dir: Path, *, launch_dir: Path | None = None, session_id: str | None = None
    ) -> Session:
        """Start a session.

        Raises:
            SessionError: the directory cannot be written, or the id is taken or malformed.
        """
        new_id = valid_id(session_id) if session_id else str(uuid.uuid4())
        transcript = Transcript.create(self.directory(project_dir) / f"{new_id}{_SUFFIX}")
        header = SessionHeader(
            new_id, str(project_dir), str(launch_dir or project_dir), self._version
        )
        with _remove_on_failure(transcript):
            transcript.append(to_json(header), sync=True)
        return Session(new_id, transcript)

    def create_unsaved(
        self,
        project_dir: Path,
        *,
        launch_dir: Path | None = None,
        session_id: str | None = None,
        is_stored: bool = True,
    ) -> Session:
        """Start a session in a temporary directory, if the home directory is not writable.

        The directory is private and has the structure of an agent's home, so that everything else
        works as usual. Without `is_stored`, it is removed at the end of the session; that of a
        killed program is removed by a later start.

        Raises:
            SessionError: the temporary directory cannot be written, either.
        """
        try:
            if is_stored:
                directory = Path(tempfile.mkdtemp(prefix="agent-tui-"))
            else:
                directory = make_owned_directory("agent-tui-passing-").path
        except OSError as error:
            raise SessionError(f"No folder can hold session files: {error.strerror}.") from error
        new_id = valid_id(session_id) if session_id else str(uuid.uuid4())
        elsewhere = SessionStore(directory).directory(project_dir)
        transcript = Transcript.create(elsewhere / f"{new_id}{_SUFFIX}")
        header = SessionHeader(
            new_id, str(project_dir), str(launch_dir or project_dir), self._version
        )
        # If the disk accepts no data at all, records stay in memory.
        with contextlib.suppress(SessionError):
            transcript.append(to_json(header))
        return Session(new_id, transcript, directory, is_stored=is_stored)

    def open(self, session_id: str) -> Session:
        """Open a session for appending. Raises SessionLocked and SessionError."""
        info = self.get(session_id)
        return Session(info.id, Transcript.open(info.path))

    def fork(
        self,
        session_id: str,
        *,
        project_dir: Path | None = None,
        new_id: str | None = None,
        is_wanted: bool = True,
    ) -> Session:
        """Copy a session, even one that is open elsewhere, and open the copy.

        `new_id` is the copy's id; None generates one. A copy without `is_wanted` is removed if it
        is not used. Grants are not copied, as they were given for the other conversation.

        Raises:
            SessionError: there is no such session, or the copy cannot be written.
        """
        info = self.get(session_id)
        new_id = valid_id(new_id) if new_id else str(uuid.uuid4())
        directory = self.directory(project_dir) if project_dir else info.path.parent
        transcript = Transcript.create(directory / f"{new_id}{_SUFFIX}")
        with _remove_on_failure(transcript):
            for line in read_forwards(info.path):
                match line:
                    case Line() if line.data.get("kind") == "session":
                        header = {**line.data, "session_id": new_id, "forked_from": info.id}
                        transcript.append(header)
                    case Line():
                        # Damaged lines show as a gap in the numbering.
                        transcript.skip_to(line.seq)
                        transcript.append(line.data)
                    case DamagedLine():
                        continue
            transcript.append(to_json(GrantsRecord()), sync=True)
            # Without the old snapshots, only the copy's undo is limited.
            with contextlib.suppress(OSError):
                copy_snapshots(info.path.with_suffix(""), transcript.path.with_suffix(""))
            copied_bytes = 0 if is_wanted else transcript.path.stat().st_size
        return Session(new_id, transcript, copied_bytes=copied_bytes)

    def get(self, session_id: str) -> SessionInfo:
        """Find a session by its id, or by the start of one (4 characters at least).

        Raises:
            SeveralSessions: it is the start of several ids.
            SessionError: the text is not an id, or no session matches.
        """
        text = session_id.strip().lower()
        if not _ID_START.fullmatch(text):
            raise SessionError(
                f"{session_id!r} is not a session id. `agent-tui sessions list` shows them."
            )
        matching = [info for info in self.list() if info.id.startswith(text)]
        if not matching:
            raise SessionError(
                f"There is no session {session_id}. `agent-tui sessions list` shows them."
            )
        if len(matching) > 1:
            ids = ", ".join(info.id for info in matching[:5])
            raise SeveralSessions(
                f"Several sessions begin with {session_id}: {ids}. Type more of it."
            )
        return matching[0]

    def latest(self, project_dir: Path) -> SessionInfo | None:
        """Return the last session with a prompt, else the last one that is not empty, or None.

        Sessions without a prompt are ignored while another process has them open, as their text
        is still being typed.
        """
        unsent: SessionInfo | None = None
        for info in self.list(project_dir):
            if has_prompt(info.path):
                return info
            if unsent is None and has_content(info.path) and not is_open(info.path):
                unsent = info
        return unsent

    def unsent_after(self, info: SessionInfo) -> tuple[SessionInfo, ...]:
        """Return newer sessions of the same project that contain only unsent text, without prompt
        and title; the oldest first, without open ones."""
        directory = info.path.parent
        newer = sorted(
            (other for other in _sessions(directory) if other.modified > info.modified),
            key=lambda other: (other.modified, other.id),
        )
        return tuple(
            other
            for other in newer
            if not is_open(other.path)
            and _NAMED.isdisjoint(_record_kinds(other.path))
            and has_content(other.path)
        )

    def list(self, project_dir: Path | None = None) -> tuple[SessionInfo, ...]:
        """Return the sessions of a project, or all sessions, latest first. Never raises."""
        directories = [self.directory(project_dir)] if project_dir else _directories(self.root)
        infos = [info for directory in directories for info in _sessions(directory)]
        infos.sort(key=lambda info: (info.modified, info.id), reverse=True)
        return tuple(infos)

    def rename(self, session_id: str, title: str) -> None:
        """Give a session a name.

        Raises:
            SessionLocked: another process has it open; rename it there.
            SessionError: there is no such session, or it cannot be written.
        """
        session = self.open(session_id)
        try:
            session.transcript.append(to_json(TitleRecord(title.strip())), sync=True)
        finally:
            session.close()

    def delete(self, session_id: str) -> None:
        """Delete a session with its snapshots and results, while holding its lock.

        Raises:
            SessionLocked: another process has it open.
            SessionError: it cannot be removed.
        """
        session = self.open(session_id)
        try:
            _remove(session.path)
        except OSError as error:
            raise SessionError(f"{session.path} cannot be removed: {error.strerror}.") from error
        finally:
            session.close()


def valid_id(text: str) -> str:
    """Return a session id as it is used in file names.

    Raises:
        SessionError: it is not an id, and must not become part of a path.
    """
    if not _ID.fullmatch(text.lower()):
        raise SessionError(f"{text!r} is not a session id: expected a UUID.")
    return text.lower()


def project_slug(project_dir: Path) -> str:
    """Return a directory name for a project: readable, and different for different paths."""
    path = os.path.realpath(project_dir)
    readable = re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-")[-_SLUG_CHARACTERS:].strip("-")
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:10]
    return f"{readable}-{digest}" if readable else digest


def has_prompt(path: Path) -> bool:
    """Return whether a session has a message or a prompt."""
    return any(kind in ("message", "prompt") for kind in _record_kinds(path))


def _record_kinds(path: Path) -> Iterator[object]:
    """Yield the kinds of a session's records, until a read error."""
    with contextlib.suppress(OSError):
        for line in read_forwards(path):
            if isinstance(line, Line):
                yield line.data.get("kind")


def has_content(path: Path, *, start: int = 0) -> bool:
    """Return whether a session contains anything worth keeping; True if it is unreadable.

    Records before `start`, a line's offset, are ignored.
    """
    is_typed = is_queued = False
    try:
        for line in read_forwards(path, start=start):
            if isinstance(line, DamagedLine):
                if line.reason == "torn":
                    # The next process that opens the session removes it.
                    continue
                return True
            match line.data.get("kind"):
                case "message" | "prompt" | "title":
                    return True
                case "draft":
                    is_typed = bool(line.data.get("text"))
                case "queue":
                    is_queued = bool(line.data.get("prompts"))
            if line.data.get("forked_from"):
                return True
    except OSError:
        return path.exists()
    return is_typed or is_queued


def _remove(path: Path) -> None:
    """Remove a session with all that belongs to it. Raises OSError."""
    path.unlink(missing_ok=True)
    directory = path.with_suffix("")
    if directory.is_dir() and not directory.is_symlink():
        remove_tree(directory)
    path.with_name(f"{path.name}.damaged").unlink(missing_ok=True)
    lock_path(path).unlink(missing_ok=True)


def _directories(root: Path) -> list[Path]:
    try:
        with os.scandir(root) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _time_of(seconds: float) -> datetime:
    """Return a file's time, limited to the range of `datetime`."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC) if seconds > 0 else datetime.min.replace(tzinfo=UTC)


def _sessions(directory: Path) -> Iterator[SessionInfo]:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                stem = entry.name.removesuffix(_SUFFIX)
                if not entry.name.endswith(_SUFFIX) or not _ID.fullmatch(stem):
                    continue
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if not stat.S_ISREG(status.st_mode):
                        # A pipe would block the reader.
                        continue
                    modified_at = _time_of(status.st_mtime)
                    yield SessionInfo(stem, Path(entry.path), modified_at, status.st_size)
    except OSError:
        return


@contextlib.contextmanager
def _remove_on_failure(transcript: Transcript) -> Iterator[None]:
    try:
        yield
    except (SessionError, OSError) as error:
        transcript.close()
        for leftover in (transcript.path, lock_path(transcript.path)):
            with contextlib.suppress(OSError):
                leftover.unlink()
        if isinstance(error, SessionError):
            raise
        raise SessionError(f"The session cannot be copied: {error.strerror}.") from error
