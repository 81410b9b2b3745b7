"""Who is alive: a member holds the lock of a file for as long as it lives.

The lock ends with its process, however that ends; there are no heartbeats and no clocks.
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
    """Another process, or another member of this one, is that member."""


class Lease:
    """Held until `release`, or until the process ends."""

    def __init__(self, descriptor: int) -> None:
        """Use `take`."""
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, path: Path, who: str) -> Self:
        """Take the lease at `path`.

        Raises:
            LeaseTaken: `who` lives already.
            OSError: the disk does not let it be taken.
        """
        make_private_dir(path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        for attempt in range(_ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                # A process that looks whether it is held holds it for an instant.
                if attempt + 1 < _ATTEMPTS:
                    time.sleep(_PAUSE_S)
                    continue
                pid = _holder(descriptor)
                os.close(descriptor)
                raise LeaseTaken(f"{who} is already running, in process {pid or '?'}.") from error
        with contextlib.suppress(OSError):  # the number is a courtesy, the lock is what counts
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """End it; safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_held(path: Path) -> bool:
    """Return whether somebody holds the lease at `path`."""
    return holder(path) is not None


def holder(path: Path) -> int | None:
    """Return the process that holds the lease at `path`, 0 where it has no number; None for
    none."""
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
