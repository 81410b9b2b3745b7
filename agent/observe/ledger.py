"""The costs of all sessions: one small database, shared by all running programs.

It contains only sums by session, day and model; if it is lost, nothing else is affected.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.events import Usage
from agent.observe.cost_tracker import CostState
from permissions.base.files.private_file import make_private_file

if TYPE_CHECKING:
    # Imported with the first entry, after the first answer.
    import sqlite3

_BUSY_TIMEOUT_S: Final = 2.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS cost(
    session TEXT NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, usd REAL NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL, PRIMARY KEY(session, day, model)
);
"""


class LedgerEntry(Struct, frozen=True):
    """The cost of one response."""

    session: str
    day: date
    model: str
    """Canonical name."""
    usd: float
    usage: Usage


class Sums(Struct, frozen=True):
    """Costs of all sessions in US dollars."""

    today_usd: float = 0.0
    month_usd: float = 0.0
    total_usd: float = 0.0
    sessions: int = 0


class Costs(Struct, frozen=True):
    """Access to the costs of this session by model, and of all sessions."""

    session: Callable[[], CostState]
    everywhere: Callable[[], Awaitable[Sums]]


def ledger_path(agent_home: Path) -> Path:
    """Return the path of the ledger."""
    return agent_home / "costs.db"


class Ledger:
    """Stores entries and sums them. Every call opens the file again, because it is only used a few
    times per minute, by several programs."""

    def __init__(self, path: Path) -> None:
        """Create nothing before the first entry."""
        self._path = path
        self.failure: Exception | None = None

    def add(self, entry: LedgerEntry) -> None:
        """Add a response. If the ledger cannot be written, recording stops without an error."""
        if self.failure is not None:
            return
        import sqlite3

        usage = entry.usage
        write_tokens = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
        try:
            with self._open() as connection:
                connection.execute(
                    "INSERT INTO cost VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT(session, day, model) DO UPDATE SET"
                    " usd = usd + excluded.usd, input = input + excluded.input,"
                    " output = output + excluded.output,"
                    " cache_read = cache_read + excluded.cache_read,"
                    " cache_write = cache_write + excluded.cache_write",
                    (
                        entry.session,
                        entry.day.isoformat(),
                        entry.model,
                        entry.usd,
                        usage.input_tokens,
                        usage.output_tokens,
                        usage.cache_read_tokens,
                        write_tokens,
                    ),
                )
        except (sqlite3.Error, OSError) as error:
            self.failure = error

    def sums(self, today: date) -> Sums:
        """Return the sums; all 0 if the file cannot be read. Blocks, so call it in a thread."""
        if not self._path.exists():
            return Sums()
        import sqlite3

        try:
            with self._open() as connection:
                row = connection.execute(
                    "SELECT TOTAL(usd) FILTER (WHERE day = ?),"
                    " TOTAL(usd) FILTER (WHERE substr(day, 1, 7) = ?), TOTAL(usd),"
                    " COUNT(DISTINCT session) FROM cost",
                    (today.isoformat(), today.isoformat()[:7]),
                ).fetchone()
        except (sqlite3.Error, OSError):
            return Sums()
        return Sums(float(row[0]), float(row[1]), float(row[2]), int(row[3]))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        # Created here first, so that it is never readable by others.
        make_private_file(self._path)
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)
        try:
            with connection:
                connection.executescript(_SCHEMA)
                yield connection
        finally:
            connection.close()
