"""Tracks which members are alive: each holds a file lock while it lives.

The system releases the lock when the process ends; there are no heartbeats or clocks.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Final, Self

from agent.teams.team_message import TeamError
from permissions.base.files.private_file import make_private_dir

_ATTEMPTS: Final = 50
_PAUSE_S: Final = 0.01


class LeaseTaken(TeamError):
    """Another process, or this one, already runs that member."""


class Lease:
    """Held until `release`, or until the process ends."""

    def __init__(self, descriptor: int) -> None:
        """Call `take` instead."""
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, path: Path, who: str) -> Self:
        """Acquire the lease at `path`.

        Raises:
            LeaseTaken: `who` is already running.
            OSError: the file cannot be created or locked.
        """
        make_private_dir(path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        for attempt in range(_ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                # A process that checks whether it is held locks it for an instant.
                if attempt + 1 < _ATTEMPTS:
                    time.sleep(_PAUSE_S)
                    continue
                pid = _holder(descriptor)
                os.close(descriptor)
                raise LeaseTaken(f"{who} is already running, in process {pid or '?'}.") from error
        with contextlib.suppress(OSError):  # the process id is informative; only the lock counts
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Release the lease; safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_held(path: Path) -> bool:
    """Return whether a process holds the lease at `path`."""
    return holder(path) is not None


def holder(path: Path) -> int | None:
    """Return the id of the process that holds the lease at `path`, 0 if unknown; None if it is
    free."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder(descriptor)
    finally:
        os.close(descriptor)
    return None


def _holder(descriptor: int) -> int:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else 0
