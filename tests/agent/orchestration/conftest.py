"""Stores of the journal: a file, and a Postgres server of the test's own where there is one."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.postgres_connection import PostgresConnection
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from tests.agent.orchestration.run_place import Place

OpenStore = Callable[[], JournalStore]


def _postgres_programs() -> Path | None:
    found = shutil.which("pg_ctl")
    if found is not None:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return installed[-1].parent if installed else None


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[Path]:
    programs = _postgres_programs()
    if programs is None:
        pytest.skip("no Postgres server is installed")
    # Not below pytest's own directory: that is closed to the user that the server runs as.
    directory = Path(tempfile.mkdtemp(prefix="agent-tui-postgres-", dir="/tmp"))
    as_owner: list[str] = []
    if os.geteuid() == 0:
        # The server refuses to run as root.
        nobody = pwd.getpwnam("nobody")
        os.chown(directory, nobody.pw_uid, nobody.pw_gid)
        as_owner = [
            "setpriv",
            f"--reuid={nobody.pw_uid}",
            f"--regid={nobody.pw_gid}",
            "--clear-groups",
        ]
    data = directory / "data"

    def run(*words: str) -> None:
        done = subprocess.run([*as_owner, *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(directory, ignore_errors=True)
            pytest.skip(f"no Postgres server can be started: {done.stderr.strip()[-300:]}")

    run(str(programs / "initdb"), "-D", str(data), "-U", "tester", "-A", "trust", "-N")
    options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c fsync=off"
    control = str(programs / "pg_ctl")
    run(control, "-D", str(data), "-l", str(directory / "log"), "-w", "-o", options, "start")
    try:
        yield directory
    finally:
        run(control, "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(directory, ignore_errors=True)


def own_schema(socket: Path) -> str:
    """Return the connection string of an empty schema."""
    import psycopg

    base = f"host={socket} user=tester dbname=postgres"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS journal CASCADE; CREATE SCHEMA journal")
    return f"{base} options='-c search_path=journal'"


@pytest.fixture
def postgres_url(postgres_socket: Path) -> str:
    """A schema of the test's own."""
    return own_schema(postgres_socket)


@pytest.fixture(params=["sqlite", "postgres"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    if request.param == "sqlite":
        return lambda: JournalStore(SqliteConnection(tmp_path / "journal.sqlite"))
    url: str = request.getfixturevalue("postgres_url")
    return lambda: JournalStore(PostgresConnection(url))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path / "journal.sqlite")
    yield made
    for journal in made.journals:
        await journal.aclose()
