"""Counts in a journal's own database how often each step is recorded as done."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

_SQLITE = """CREATE TABLE done (key TEXT, occurrence INTEGER);
CREATE TRIGGER done_step AFTER UPDATE ON workflow_step WHEN NEW.state = 'done'
BEGIN INSERT INTO done VALUES (NEW.key, NEW.occurrence); END;"""
_POSTGRES = """CREATE TABLE done (key TEXT, occurrence INTEGER);
CREATE FUNCTION note_done() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO done VALUES (NEW.key, NEW.occurrence); RETURN NEW; END $$;
CREATE TRIGGER done_step AFTER UPDATE ON workflow_step FOR EACH ROW WHEN (NEW.state = 'done')
EXECUTE FUNCTION note_done();"""
_ROWS = "SELECT key, occurrence FROM done"


def count_done(where: str) -> None:
    """Leave a row in the database each time; `where` is a file or a Postgres connection string."""
    if where.startswith("/"):
        import sqlite3

        with closing(sqlite3.connect(where)) as database:
            database.executescript(_SQLITE)
        return
    import psycopg

    with psycopg.connect(where, autocommit=True) as server:
        server.execute(_POSTGRES)


def done_counts(where: str) -> Counter[tuple[str, int]]:
    """Return the count of each key and occurrence."""
    if where.startswith("/"):
        import sqlite3

        with closing(sqlite3.connect(where)) as database:
            return Counter(database.execute(_ROWS).fetchall())
    import psycopg

    with psycopg.connect(where) as server:
        return Counter(server.execute(_ROWS).fetchall())
