"""The journal in a Postgres database, for several machines (extra `agent-tui[postgres]`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.sql_connection import Transaction, Value

if TYPE_CHECKING:
    import psycopg

LOCK: Final = 0x61_67_74_75
"""Key of the advisory lock that allows one writer at a time, as with SQLite."""
CONNECT_S: Final = 10
INSTALL: Final = "pip install 'agent-tui[postgres]'"


class PostgresConnection:
    """A connection in autocommit mode; transactions take the advisory lock."""

    def __init__(self, url: str) -> None:
        """Connect.

        Raises:
            JournalError: the driver is not installed, or the connection fails.
        """
        try:
            import psycopg  # an extra
        except ImportError as error:
            raise JournalError(f"a Postgres journal needs its driver: {INSTALL}") from error
        self._error = psycopg.Error
        self._url = url
        self._database = self._connect()

    @contextmanager
    def transaction(self, *, is_durable: bool = False) -> Iterator[Transaction]:
        """Open a transaction that excludes every other writer. Raises `JournalError`."""
        durability = "on" if is_durable else "off"
        if self._database.closed:
            # The server was restarted, or the network was interrupted.
            self._database = self._connect()
        try:
            with self._database.transaction():
                self._execute(f"SET LOCAL synchronous_commit = {durability}", ())
                self._execute(f"SELECT pg_advisory_xact_lock({LOCK})", ())
                now = self._execute("SELECT extract(epoch FROM clock_timestamp())", ())[0][0]
                yield Transaction(self._execute, float(now or 0))
        except self._error as error:
            raise JournalError(str(error)) from error

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns."""
        try:
            rows = self._execute(
                "SELECT column_name FROM information_schema.columns "
                "WHERE table_name = ? AND table_schema = current_schema()",
                (table,),
            )
        except self._error as error:
            raise JournalError(str(error)) from error
        return {str(row[0]) for row in rows}

    def close(self) -> None:
        """Close it."""
        with suppress(self._error):
            self._database.close()

    def _connect(self) -> psycopg.Connection[tuple[Value, ...]]:
        import psycopg  # see above

        try:
            return psycopg.connect(self._url, autocommit=True, connect_timeout=CONNECT_S)
        except psycopg.Error as error:
            raise JournalError(f"no connection to the journal: {error}") from error

    def _execute(self, statement: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        # Statements are constants: they contain no text of users or models.
        ours = statement.replace("?", "%s").encode()
        cursor = self._database.execute(ours, tuple(values) or None)
        return cursor.fetchall() if cursor.description is not None else []
