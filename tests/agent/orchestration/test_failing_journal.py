"""A store that cannot be written: results stay in memory, users get a notice, the run ends well."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent.orchestration.journal import journal, sqlite_connection
from agent.orchestration.journal.journal_records import Caps, StepState, WorkflowState
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from tests.agent.orchestration.conftest import OpenStore
from tests.agent.orchestration.run_place import Place, fan_out


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_connection, "BUSY_S", 0.05)
    monkeypatch.setattr(journal, "AGAIN_S", 0.05)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a writer needs, as another process can."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        yield


async def test_a_locked_journal_costs_no_result_and_limits_hold(place: Place) -> None:
    place.opened().close()
    with locked(place.path):
        run = await place.started(fan_out("a", "b", "c", max_agents=4), Caps(concurrent=1))
        end = await run.to_the_end()
        await place.journal.aclose()
    assert (end.state, end.reason) == (
        WorkflowState.PAUSED,
        "4 of 4 agents of this run are used",
    )
    assert len(place.model.orders) == 4
    assert place.warnings == [
        "The journal of workflows cannot be written (database is locked). Results stay in memory; "
        "a run that ends now cannot be resumed."
    ]


async def test_what_ended_while_it_was_locked_is_recorded_later(place: Place) -> None:
    place.opened().close()
    with locked(place.path):
        end = await (await place.started(fan_out("a"))).to_the_end()
    await place.journal.aclose()
    store = place.opened()
    run, steps = store.runs.get("r"), store.steps.of_run("r")
    store.close()
    assert run is not None
    assert (run.state, run.result) == (WorkflowState.COMPLETED, end.result)
    assert [step.state for step in steps] == [StepState.DONE, StepState.DONE]
    assert len(place.warnings) == 2
    assert "can be written again" in place.warnings[1]


async def test_a_run_that_began_while_it_was_locked_continues_with_it(place: Place) -> None:
    """The run is recorded once that is possible, and stays its process's own."""
    place.opened().close()
    place.model.holds = asyncio.Event()
    with locked(place.path):
        run = await place.started(fan_out("a"))
        ending = asyncio.ensure_future(run.to_the_end())
        await place.model.started.wait()
    while len(place.warnings) < 2:
        await place.journal.renew("r", "me")
    recorded = await place.journal.ask(lambda store: store.runs.get("r"))
    assert recorded is not None
    assert (recorded.state, recorded.owner) == (WorkflowState.RUNNING, "me")
    place.model.holds.set()
    assert (await ending).state is WorkflowState.COMPLETED


async def test_a_full_store_costs_no_result(place: Place) -> None:
    place.opened().close()

    def small() -> JournalStore:
        connection = SqliteConnection(place.path)
        with connection.transaction() as transaction:
            transaction.execute("PRAGMA max_page_count = 1", ())
        return JournalStore(connection)

    place.journal = place.another_journal(small)
    tasks = [letter * 9_000 for letter in "abcdef"]
    end = await (await place.started(fan_out(*tasks))).to_the_end()
    assert end.state is WorkflowState.COMPLETED
    assert all(f"did {task}" in end.result for task in tasks)
    assert "full" in place.warnings[0]


@pytest.mark.parametrize("text", ["half a pair \ud800", "a NUL \0 in it"])
async def test_text_that_no_database_takes(open_store: OpenStore, place: Place, text: str) -> None:
    place.journal = place.another_journal(open_store)
    end = await (await place.started(fan_out(text))).to_the_end()
    steps = await place.journal.ask(lambda store: store.steps.of_run("r"))
    assert end.state is WorkflowState.COMPLETED
    assert steps[0].prompt == text.replace("\ud800", "\ufffd").replace("\0", "\ufffd")
    assert place.warnings == []
