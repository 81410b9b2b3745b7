"""Remembers servers that recently required a sign-in, so that not every start tries them again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from agent.mcp.stored_file import read_stored
from permissions.base.files.private_file import exclusive, write_private

FRESH_S: Final = 15 * 60


class NeedsAuthCache:
    """Servers by URL, with the time when they required a sign-in. Its methods block."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        """`clock` returns seconds since the epoch."""
        self._path = directory / "needs-auth.json"
        self._clock = clock

    def wants(self, url: str) -> bool:
        """Return whether a server required a sign-in within the last 15 minutes."""
        age_s = self._clock() - self._read().get(url, 0.0)
        return 0 <= age_s < FRESH_S

    def note(self, url: str) -> None:
        """Record that a server requires a sign-in. Raises OSError."""
        self._change(lambda times: times.update({url: self._clock()}))

    def forget(self, url: str) -> None:
        """Remove a server's entry, so that it is tried again. Raises OSError."""
        if url in self._read():
            self._change(lambda times: times.pop(url, None))

    def _change(self, change: Callable[[dict[str, float]], object]) -> None:
        with exclusive(self._path):
            now = self._clock()
            times = {u: time_s for u, time_s in self._read().items() if 0 <= now - time_s < FRESH_S}
            change(times)
            write_private(self._path, msgspec.json.encode(times), sync=False)

    def _read(self) -> dict[str, float]:
        return read_stored(self._path, dict[str, float])
