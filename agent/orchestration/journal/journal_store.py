"""Runs and steps in a database.

Calls block: `agent.orchestration.journal.journal` makes them in its own thread.
"""

from __future__ import annotations

from typing import Final

from agent.orchestration.journal.journal_tables import make_tables
from agent.orchestration.journal.sql_connection import SqlConnection
from agent.orchestration.journal.sql_tables import SqlRuns, SqlSteps


class JournalStore:
    """Runs and steps. All their methods raise `JournalError` if the database fails."""

    def __init__(self, connection: SqlConnection) -> None:
        """Take over a connection and create the tables. Raises `JournalError`."""
        self._connection = connection
        try:
            make_tables(connection)
        except BaseException:
            connection.close()
            raise
        self.runs: Final = SqlRuns(connection)
        self.steps: Final = SqlSteps(connection)

    def close(self) -> None:
        """Close the connection. Never raises."""
        self._connection.close()
