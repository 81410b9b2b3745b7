"""Tracks the processes that use a run database: each holds a lock until it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class OwnerLocks:
    """The locks of one process. The operating system releases a lock when its process ends."""

    def __init__(self, directory: Path) -> None:
        """Lock the first free number; `directory` is created if needed."""
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._descriptors: dict[int, int] = {}
        number = 0
        while not self._take(number):
            number += 1
        self.number = number
        """The number of this process, unique among running ones."""

    def take_dead(self) -> list[int]:
        """Lock the numbers of processes that have ended, and return them."""
        numbers = sorted(int(path.stem) for path in self._directory.glob("*.lock"))
        return [
            number for number in numbers if number not in self._descriptors and self._take(number)
        ]

    def release(self) -> None:
        """Release all locks."""
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()

    def _take(self, number: int) -> bool:
        path = self._directory / f"{number}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptors[number] = descriptor
        return True
