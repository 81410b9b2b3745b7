"""The journal's stores: one owner, one result for each step, limits that outlive a restart."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.orchestration.journal.journal_error import JournalError, RunTakenError
from agent.orchestration.journal.journal_records import (
    Busy,
    CapReached,
    Caps,
    Claimed,
    OwnerRequest,
    Reused,
    RunChange,
    RunRecord,
    StepPlace,
    StepRecord,
    StepState,
    WorkflowState,
)
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from agent.orchestration.journal.step_key import step_key
from tests.agent.orchestration.conftest import OpenStore

CAPS = Caps(concurrent=2, session_agents=5)
STEP = StepRecord(run="r", key=step_key("task"), owner="a", prompt="task")


@pytest.fixture
def store(open_store: OpenStore) -> Iterator[JournalStore]:
    opened = open_store()
    opened.runs.add(RunRecord(id="r", name="n", kind="script", script="s", session="c"))
    opened.runs.take("r", "a", 60)
    yield opened
    opened.close()


def test_a_step_is_run_once_and_then_reused(store: JournalStore) -> None:
    assert store.steps.claim(STEP, 60, CAPS) == Claimed(1)
    done = replace(STEP, state=StepState.DONE, result='"42"', tokens=7, cost_usd=0.5)
    assert store.steps.finish(done)
    claim = store.steps.claim(replace(STEP, owner="b"), 60, CAPS)
    assert isinstance(claim, Reused)
    assert claim.result == '"42"'
    assert not store.steps.finish(replace(done, owner="b", result='"43"'))
    (step,) = store.steps.of_run("r")
    assert (step.result, step.tokens, step.cost_usd, step.attempts) == ('"42"', 7, 0.5, 1)


def test_equal_calls_of_one_wave_are_two_steps(store: JournalStore) -> None:
    assert store.steps.claim(STEP, 60, CAPS) == Claimed(1)
    assert store.steps.claim(replace(STEP, occurrence=1), 60, CAPS) == Claimed(1)


@pytest.mark.parametrize("state", [StepState.PARTIAL, StepState.FAILED])
def test_what_is_no_real_answer_is_run_again(store: JournalStore, state: StepState) -> None:
    store.steps.claim(STEP, 60, CAPS)
    store.steps.finish(replace(STEP, state=state, result='"half"'))
    assert store.steps.claim(STEP, 60, CAPS) == Claimed(2)


def test_a_live_owners_step_waits_and_a_dead_ones_is_taken_over(store: JournalStore) -> None:
    store.steps.claim(STEP, 60, CAPS)
    other = replace(STEP, owner="b")
    assert store.steps.claim(other, 60, CAPS) == Busy()
    store.steps.claim(replace(STEP, occurrence=1), -1, CAPS)
    assert store.steps.claim(replace(other, occurrence=1), 60, CAPS) == Claimed(2)


def test_a_step_is_handed_to_a_worker_and_taken_back_from_a_dead_one(store: JournalStore) -> None:
    store.steps.claim(STEP, 60, CAPS)
    owner, worker = (StepPlace("r", STEP.key, 0, name) for name in ("a", "w"))
    assert store.steps.hold(owner, "w", 60)
    assert not store.steps.hold(owner, "other", 60)
    assert not store.steps.hold(worker, "a", 60, if_dead=True)
    assert store.steps.hold(worker, "w", -1)
    assert store.steps.hold(worker, "a", 60, if_dead=True)
    (step,) = store.steps.of_run("r")
    assert (step.attempts, store.steps.usage(run="r").agents) == (2, 2)
    assert store.steps.finish(replace(STEP, state=StepState.DONE, result='"r"'))
    assert not store.steps.hold(owner, "w", 60)


def test_a_late_result_of_a_dead_owner_counts_where_none_is_recorded(store: JournalStore) -> None:
    store.steps.claim(STEP, -1, CAPS)
    other = replace(STEP, owner="b")
    assert store.steps.claim(other, 60, CAPS) == Claimed(2)
    assert not store.steps.finish(replace(STEP, state=StepState.FAILED, result='"x"'))
    assert store.steps.finish(replace(STEP, state=StepState.DONE, result='"late"'))
    assert not store.steps.finish(replace(other, state=StepState.DONE, result='"own"'))


def test_no_more_agents_than_may_work_at_once(store: JournalStore) -> None:
    for number in range(2):
        assert store.steps.claim(replace(STEP, occurrence=number), 60, CAPS) == Claimed(1)
    assert store.steps.claim(replace(STEP, occurrence=2), 60, CAPS) == Busy()


def test_the_sessions_limit_counts_all_runs_and_all_attempts(store: JournalStore) -> None:
    store.runs.add(RunRecord(id="r2", name="n", kind="script", script="s", session="c"))
    for number in range(5):
        run = "r" if number % 2 else "r2"
        step = replace(STEP, run=run, occurrence=number)
        claimed = store.steps.claim(step, 60, replace(CAPS, concurrent=99))
        assert isinstance(claimed, Claimed)
    last = replace(STEP, occurrence=9)
    assert store.steps.claim(last, 60, replace(CAPS, concurrent=99)) == CapReached("session", 5, 5)


def test_a_runs_limit_can_be_raised(store: JournalStore) -> None:
    store.runs.change("r", RunChange(agents=1, usd=2.5))
    assert store.steps.claim(STEP, 60, CAPS) == Claimed(1)
    second = replace(STEP, occurrence=1)
    assert store.steps.claim(second, 60, CAPS) == CapReached("run", 1, 1)
    store.runs.change("r", RunChange(agents=2))
    assert store.steps.claim(second, 60, CAPS) == Claimed(1)


def test_a_run_has_one_owner_that_lives(store: JournalStore) -> None:
    with pytest.raises(RunTakenError, match="another process"):
        store.runs.take("r", "b", 60)
    store.runs.renew("r", "a", -1)
    assert store.runs.take("r", "b", 60).owner == "b"
    with pytest.raises(RunTakenError, match="took the run r over"):
        store.runs.renew("r", "a", 60)
    store.runs.set_state("r", "a", WorkflowState.STOPPED, releases=True)
    taken = store.runs.get("r")
    assert taken is not None
    assert (taken.owner, taken.state) == ("b", WorkflowState.RUNNING)


def test_a_request_reaches_the_owner_once(store: JournalStore) -> None:
    store.runs.request("r", OwnerRequest.PAUSE)
    assert store.runs.renew("r", "a", 60) is OwnerRequest.PAUSE
    assert store.runs.renew("r", "a", 60) is OwnerRequest.NONE


def test_a_run_that_is_over_can_be_taken_again(store: JournalStore) -> None:
    store.runs.set_state("r", "a", WorkflowState.STOPPED, reason="a user stopped it")
    stopped = store.runs.get("r")
    assert stopped is not None
    assert (stopped.state, stopped.reason) == (WorkflowState.STOPPED, "a user stopped it")
    taken = store.runs.take("r", "b", 60)
    assert (taken.state, taken.reason, taken.ended_at) == (WorkflowState.RUNNING, "", None)


def test_what_was_used_is_summed_up(store: JournalStore) -> None:
    store.steps.claim(STEP, 60, CAPS)
    store.steps.finish(replace(STEP, state=StepState.DONE, tokens=10, cost_usd=1.5))
    store.steps.claim(replace(STEP, occurrence=1), 60, CAPS)
    store.steps.finish(replace(STEP, occurrence=1, state=StepState.DONE, tokens=5))
    used = store.steps.usage(session="c")
    assert (used.agents, used.tokens, used.cost_usd, used.is_cost_known) == (2, 15, 1.5, False)


def test_a_finished_step_of_the_conversation_is_found(store: JournalStore) -> None:
    store.steps.claim(STEP, 60, CAPS)
    store.steps.finish(replace(STEP, state=StepState.DONE, result='"r"'))
    found = store.steps.find_done(STEP.key, 0, "c")
    assert found is not None
    assert found.result == '"r"'
    assert store.steps.find_done(STEP.key, 0, "another") is None
    assert store.steps.find_done(STEP.key, 1, "c") is None


def test_runs_are_listed_the_newest_first(store: JournalStore) -> None:
    store.runs.add(RunRecord(id="later", name="n", kind="script", script="s"))
    assert [run.id for run in store.runs.newest(5)] == ["later", "r"]


def test_a_journal_opens_again_with_what_was_in_it(open_store: OpenStore) -> None:
    first = open_store()
    first.runs.add(RunRecord(id="r", name="ö", kind="script", script="s", budget_usd=1.5))
    first.close()
    again = open_store()
    run = again.runs.get("r")
    assert run is not None
    assert (run.name, run.budget_usd) == ("ö", 1.5)
    again.close()


def test_an_older_journal_gets_the_columns_that_are_new(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        old.execute("CREATE TABLE workflow_run (id TEXT PRIMARY KEY, name TEXT, later TEXT)")
        old.execute("INSERT INTO workflow_run VALUES ('r', 'n', 'kept')")
    store = JournalStore(SqliteConnection(path))
    run = store.runs.get("r")
    assert run is not None
    assert run.state is WorkflowState.QUEUED
    store.runs.request("r", OwnerRequest.STOP)
    store.close()
    with closing(sqlite3.connect(path)) as after:
        assert after.execute("SELECT later FROM workflow_run").fetchone() == ("kept",)


def test_only_its_owner_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "below" / "journal.sqlite"
    JournalStore(SqliteConnection(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_text("not a database, and long enough to be seen as none" * 10)
    with pytest.raises(JournalError, match=r"journal\.sqlite"):
        JournalStore(SqliteConnection(path))
    (tmp_path / "directory.sqlite").mkdir()
    with pytest.raises(JournalError):
        SqliteConnection(tmp_path / "directory.sqlite")


def test_an_error_inside_a_transaction_leaves_nothing_behind(tmp_path: Path) -> None:
    with closing(JournalStore(SqliteConnection(tmp_path / "journal.sqlite"))) as store:
        with pytest.raises(JournalError, match="no run"):
            store.steps.claim(STEP, 60, CAPS)
        assert store.steps.of_run("r") == []
        assert store.runs.newest(1) == []


def test_attempts_of_a_step_add_up(store: JournalStore) -> None:
    for number in range(2):
        store.steps.claim(STEP, 60, CAPS)
        state = StepState.DONE if number else StepState.PARTIAL
        store.steps.finish(replace(STEP, state=state, result='"r"', tokens=10, cost_usd=0.5))
    used = store.steps.usage(run="r")
    assert (used.agents, used.tokens, used.cost_usd) == (2, 20, 1.0)


def test_tokens_and_dollars_of_run_and_session_are_limits(store: JournalStore) -> None:
    store.steps.claim(STEP, 60, CAPS)
    store.steps.finish(replace(STEP, state=StepState.DONE, tokens=10, cost_usd=0.5))
    second = replace(STEP, occurrence=1)
    tokens = store.steps.claim(second, 60, replace(CAPS, session_tokens=15))
    assert tokens == CapReached("session", 10, 15, "tokens")
    store.runs.change("r", RunChange(usd=0.75))
    dollars = store.steps.claim(second, 60, CAPS)
    assert dollars == CapReached("run", 0.5, 0.75, "dollars")
    assert dollars.text == "$0.50 of $0.75 of this run are used"
    store.runs.change("r", RunChange(usd=1.0))
    # Room for one that costs as much, not for two.
    assert isinstance(store.steps.claim(second, 60, CAPS), Claimed)
    assert store.steps.claim(replace(STEP, occurrence=2), 60, CAPS) == Busy()


def test_a_limit_that_is_near_is_reported_with_the_claim(store: JournalStore) -> None:
    store.runs.change("r", RunChange(agents=5))
    claims = [store.steps.claim(replace(STEP, occurrence=n), 60, Caps()) for n in range(5)]
    assert [len(claim.near_caps) for claim in claims if isinstance(claim, Claimed)] == [
        0,
        0,
        0,
        0,
        1,
    ]


def test_a_run_that_is_left_or_deleted(store: JournalStore) -> None:
    store.runs.set_state("r", "a", WorkflowState.PAUSED, releases=True)
    assert store.runs.take("r", "b", 60).owner == "b"
    store.steps.claim(STEP, 60, CAPS)
    store.steps.remove_run("r")
    assert store.runs.get("r") is None
    assert list(store.steps.of_run("r")) == []
