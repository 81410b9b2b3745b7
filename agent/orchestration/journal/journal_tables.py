"""The tables of the journal, created and extended when it is opened.

A newer program may have added columns: they stay, since every statement names its columns.
"""

from __future__ import annotations

from typing import Final

from agent.orchestration.journal.sql_connection import SqlConnection

RUN_COLUMNS: Final = {
    "id": "TEXT PRIMARY KEY",
    "name": "TEXT NOT NULL DEFAULT ''",
    "kind": "TEXT NOT NULL DEFAULT ''",
    "script": "TEXT NOT NULL DEFAULT ''",
    "script_hash": "TEXT NOT NULL DEFAULT ''",
    "path": "TEXT NOT NULL DEFAULT ''",
    "args": "TEXT NOT NULL DEFAULT 'null'",
    "session": "TEXT NOT NULL DEFAULT ''",
    "cwd": "TEXT NOT NULL DEFAULT ''",
    "mode": "TEXT NOT NULL DEFAULT ''",
    "state": "TEXT NOT NULL DEFAULT 'queued'",
    "reason": "TEXT NOT NULL DEFAULT ''",
    "wish": "TEXT NOT NULL DEFAULT ''",
    "owner": "TEXT NOT NULL DEFAULT ''",
    "lease_until": "DOUBLE PRECISION NOT NULL DEFAULT 0",
    "max_agents": "INTEGER NOT NULL DEFAULT 1000",
    "max_tokens": "BIGINT",
    "budget_usd": "DOUBLE PRECISION",
    "created_at": "DOUBLE PRECISION NOT NULL DEFAULT 0",
    "ended_at": "DOUBLE PRECISION",
    "result": "TEXT NOT NULL DEFAULT ''",
    "agents": "INTEGER NOT NULL DEFAULT 0",
}
STEP_COLUMNS: Final = {
    "run": "TEXT NOT NULL",
    "key": "TEXT NOT NULL",
    "occurrence": "INTEGER NOT NULL DEFAULT 0",
    "state": "TEXT NOT NULL DEFAULT 'running'",
    "owner": "TEXT NOT NULL DEFAULT ''",
    "lease_until": "DOUBLE PRECISION NOT NULL DEFAULT 0",
    "attempts": "INTEGER NOT NULL DEFAULT 0",
    "label": "TEXT NOT NULL DEFAULT ''",
    "phase": "TEXT NOT NULL DEFAULT ''",
    "prompt": "TEXT NOT NULL DEFAULT ''",
    "started_at": "DOUBLE PRECISION NOT NULL DEFAULT 0",
    "ended_at": "DOUBLE PRECISION",
    "result": "TEXT NOT NULL DEFAULT ''",
    "tokens": "INTEGER NOT NULL DEFAULT 0",
    "cost_usd": "DOUBLE PRECISION",
    "transcript": "TEXT NOT NULL DEFAULT ''",
}
_TABLES: Final = {
    "workflow_run": (RUN_COLUMNS, ""),
    "workflow_step": (STEP_COLUMNS, "PRIMARY KEY (run, key, occurrence)"),
}
_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS workflow_step_key ON workflow_step (key, occurrence, state)",
    "CREATE INDEX IF NOT EXISTS workflow_run_session ON workflow_run (session)",
)


def make_tables(connection: SqlConnection) -> None:
    """Create missing tables and columns. Raises `JournalError`."""
    missing = [
        statement
        for table, (columns, constraint) in _TABLES.items()
        for statement in _statements(table, columns, constraint, connection.columns(table))
    ]
    if not missing:
        return
    with connection.transaction() as transaction:
        for statement in (*missing, *_INDEXES):
            transaction.execute(statement, ())


def _statements(
    table: str, columns: dict[str, str], constraint: str, present: set[str]
) -> list[str]:
    if present:
        return [
            f"ALTER TABLE {table} ADD COLUMN {name} {kind}"
            for name, kind in columns.items()
            if name not in present
        ]
    parts = [f"{name} {kind}" for name, kind in columns.items()]
    return [f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(filter(None, [*parts, constraint]))})"]
