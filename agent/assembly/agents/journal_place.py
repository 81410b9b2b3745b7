"""Where the journal of a project's workflows is, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.session.store import project_slug

if TYPE_CHECKING:
    from agent.orchestration.journal.journal_store import JournalStore

JOURNAL_VARIABLE: Final = "ORCH_JOURNAL"


def journal_place(env: Mapping[str, str], agent_home: Path, project: Path) -> str:
    """Return the location of a project's journal: a file path, or the URL of a database."""
    location = env.get(JOURNAL_VARIABLE, "").strip()
    return location or str(agent_home / "workflows" / project_slug(project) / "journal.sqlite")


def open_journal(place: str) -> JournalStore:
    """Open a journal. Raises JournalError."""
    # Imported with the first run; Postgres only if its URL is configured.
    from agent.orchestration.journal.journal_store import JournalStore

    if place.startswith(("postgres://", "postgresql://")):
        from agent.orchestration.journal.postgres_connection import PostgresConnection

        return JournalStore(PostgresConnection(place))
    from agent.orchestration.journal.sqlite_connection import SqliteConnection

    return JournalStore(SqliteConnection(Path(place)))
