"""The journal in an SQLite file of the project, for all processes of one machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.sql_connection import Transaction, Value

if TYPE_CHECKING:
    import sqlite3

BUSY_S: Final = 10.0
"""How long a statement waits for another process's transaction, which takes milliseconds."""


class SqliteConnection:
    """A file in WAL mode that only its owner may read."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open or create the file.

        Raises:
            JournalError: it cannot be opened, or is not a journal.
        """
        import sqlite3  # only runs of workflows need it

        self._error = sqlite3.Error
        self._clock = clock
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Created with its mode, as SQLite would make it readable to others.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            self._database: sqlite3.Connection = sqlite3.connect(
                path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise JournalError(f"{path}: {reason}") from error
        try:
            self._database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.Error as error:
            self._database.close()
            raise JournalError(f"{path}: {error}") from error

    @contextmanager
    def transaction(self, *, is_durable: bool = False) -> Iterator[Transaction]:
        """Open a transaction that excludes every other writer. Raises `JournalError`."""
        try:
            # In WAL mode a commit survives the end of the process either way; the modes differ
            # only in a power failure.
            self._database.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
            self._database.execute("BEGIN IMMEDIATE")
        except self._error as error:
            raise JournalError(str(error)) from error
        try:
            yield Transaction(self._execute, self._clock())
            self._database.execute("COMMIT")
        except BaseException as error:
            with suppress(self._error):
                self._database.execute("ROLLBACK")
            if isinstance(error, self._error):
                raise JournalError(str(error)) from error
            raise

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns."""
        try:
            rows = self._database.execute("SELECT name FROM pragma_table_info(?)", (table,))
            return {str(row[0]) for row in rows}
        except self._error as error:
            raise JournalError(str(error)) from error

    def close(self) -> None:
        """Close it."""
        with suppress(self._error):
            self._database.close()

    def _execute(self, statement: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        return self._database.execute(statement, tuple(values)).fetchall()
