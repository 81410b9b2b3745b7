"""Stores file contents by hash: each content once, outside the project."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from permissions.base.files.private_file import make_private_dir, write_private

MAX_BLOB_BYTES: Final = 50_000_000
"""A larger file is not stored; a restore reports that."""


LOG_NAME: Final = "checkpoints.jsonl"
FILES_NAME: Final = "files"


def copy_snapshots(source: Path, target: Path) -> None:
    """Copy a session's snapshots for a copy of the session; contents are shared. Raises OSError.

    `source` and `target` are the sessions' directories; does nothing if there are no snapshots.
    """
    log = source / LOG_NAME
    if not log.exists():
        return
    BlobStore(source / FILES_NAME).link_all(target / FILES_NAME)
    # Up to the last complete line, as the original may be in use.
    data = log.read_bytes()
    write_private(target / LOG_NAME, data[: data.rfind(b"\n") + 1])


class PathState(Struct, frozen=True):
    """The state of a path at one moment."""

    type: Literal["file", "absent", "link", "not_kept"]
    digest: str = ""
    """SHA-256 of a file's content."""
    mode: int = 0
    size: int = 0
    detail: str = ""
    """A link's target; for `not_kept`, the reason, for users."""

    def to_json(self) -> dict[str, object]:
        """Return the state as JSON."""
        return {
            "type": self.type,
            "digest": self.digest,
            "mode": self.mode,
            "size": self.size,
            "detail": self.detail,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PathState:
        """Parse a state. Raises KeyError, TypeError or ValueError if it is invalid."""
        kind = data["type"]
        if kind not in ("file", "absent", "link", "not_kept"):
            raise ValueError(f"unknown file state {kind!r}")
        return cls(
            kind, str(data["digest"]), int(data["mode"]), int(data["size"]), str(data["detail"])
        )

    def same_as(self, other: PathState) -> bool:
        """Return whether both have the same type, content and executable bits."""
        return (self.type, self.digest, self.mode & 0o111) == (
            other.type,
            other.digest,
            other.mode & 0o111,
        ) and (self.type != "link" or self.detail == other.detail)


class Snapshot(Struct, frozen=True):
    """The state of one path before one change."""

    turn_id: str
    tool_use_id: str
    path: Path
    state: PathState
    seq: int
    """Order of snapshots in a session."""


class BlobStore:
    """Contents by hash in one directory (0700), files of 0600."""

    def __init__(self, directory: Path) -> None:
        """The directory is created with the first content."""
        self._directory = directory
        self._states: dict[str, tuple[tuple[int, int, int, int], PathState]] = {}

    @property
    def directory(self) -> Path:
        """The directory of the contents."""
        return self._directory

    def capture(self, path: Path, *, store: bool = True, sync: bool = True) -> PathState:
        """Return a path's current state; store its content, or only hash it without `store`.

        Links are not followed. `sync` as for `put`.

        Raises:
            OSError: the content cannot be stored (disk full, no permission to read).
        """
        try:
            status = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return PathState("absent")
        if stat.S_ISLNK(status.st_mode):
            return PathState("link", detail=os.readlink(path))
        if not stat.S_ISREG(status.st_mode):
            return PathState("not_kept", detail="not a regular file")
        if status.st_size > MAX_BLOB_BYTES:
            size = f"{status.st_size:,} bytes"
            return PathState("not_kept", size=status.st_size, detail=f"too large ({size})")
        # A file that has not changed since it was stored is not read again.
        identity = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        cached_state = self._states.get(str(path))
        if cached_state is not None and cached_state[0] == identity:
            return cached_state[1]
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as stream:
            data = stream.read(MAX_BLOB_BYTES + 1)
        mode = stat.S_IMODE(status.st_mode)
        state = PathState("file", hashlib.sha256(data).hexdigest(), mode, len(data))
        if store:
            self.put(data, sync=sync)
            self._states[str(path)] = (identity, state)
        return state

    def put(self, data: bytes, *, sync: bool = True) -> str:
        """Store a content and return its hash; without `sync`, a power failure may lose it.

        Raises OSError.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        if not path.exists():
            write_private(path, data, sync=sync)
        return digest

    def get(self, digest: str) -> bytes:
        """Return a content.

        Raises:
            OSError: it does not exist.
            ValueError: the stored content is damaged.
        """
        data = self._path(digest).read_bytes()
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError(f"the saved copy {digest[:12]} is damaged")
        return data

    def link_all(self, target: Path) -> None:
        """Make every content available in another directory, too. Raises OSError."""
        for path in self._directory.glob("??/*"):
            copy = target / path.parent.name / path.name
            make_private_dir(copy.parent)
            try:
                os.link(path, copy)
            except FileExistsError:
                continue
            except OSError:
                # Some file systems do not support links.
                write_private(copy, path.read_bytes())

    def _path(self, digest: str) -> Path:
        if len(digest) != 64 or not all(c in "0123456789abcdef" for c in digest):
            raise ValueError("not a content hash")
        return self._directory / digest[:2] / digest[2:]
