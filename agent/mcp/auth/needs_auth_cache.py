"""Which servers wanted a sign-in lately: they are not asked again at every start."""

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
    """Servers by address, with the time when they wanted a sign-in. Its methods block."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        """`clock` returns seconds since the epoch."""
        self._path = directory / "needs-auth.json"
        self._clock = clock

    def wants(self, url: str) -> bool:
        """Whether a server wanted a sign-in within the last quarter of an hour."""
        age_s = self._clock() - self._read().get(url, 0.0)
        return 0 <= age_s < FRESH_S

    def note(self, url: str) -> None:
        """Note that a server wants a sign-in. Raises OSError."""
        self._change(lambda times: times.update({url: self._clock()}))

    def forget(self, url: str) -> None:
        """Ask the server again next time. Raises OSError."""
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
