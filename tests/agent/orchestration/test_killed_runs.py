"""Runs whose process is killed again and again: no finished step is asked again, none is lost.

`make soak` kills after every transaction of the journal that a run makes.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agent.orchestration.journal.journal_records import RunRecord, StepState, WorkflowState
from tests.agent.orchestration.conftest import own_schema
from tests.agent.orchestration.done_rows import count_done, done_counts
from tests.agent.orchestration.killed_run import open_store
from tests.repo.checkout import ROOT

SCRIPT = """export const meta = { name: 'audit', description: 'finds and refutes' };
const refute = (text, item) => agent('refute ' + item);
const found = await pipeline(args, item => agent('find ' + item), refute);
for (let n = 0; n < 2; n++) found.push(await agent('the same'));
return found;
"""
ITEMS = [f"item {number}" for number in range(5)]
RESULT = [f"did refute {item}" for item in ITEMS] + ["did the same"] * 2


AGENTS = 12


def run_until_done(where: str, log: Path, kills: list[int]) -> bool:
    """Run with a process that is killed, then with the next; return whether a kill happened."""
    was_killed = False
    for number, kill_after in enumerate([*kills, 0]):
        done_before = done_steps(where)
        size_before = log.stat().st_size if log.exists() else 0
        words = [where, "r", str(log), str(kill_after), str(number)]
        ended = subprocess.run(
            [sys.executable, "-m", "tests.agent.orchestration.killed_run", *words],
            cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        lines = log.read_bytes()[size_before:].decode().splitlines() if log.exists() else []
        assert not done_before & set(lines), "a finished step was asked again"
        if ended.returncode == -9:
            was_killed = True
            continue
        assert ended.stdout.startswith("completed"), (ended.stdout, ended.stderr[-2000:])
        break
    return was_killed


def done_steps(where: str) -> set[str]:
    """Return the finished steps, as agents write into the log when they start."""
    store = open_store(where)
    steps = store.steps.of_run("r")
    store.close()
    return {f"start {step.key} {step.occurrence}" for step in steps if step.state is StepState.DONE}


def check(where: str) -> None:
    store = open_store(where)
    run, steps = store.runs.get("r"), store.steps.of_run("r")
    store.close()
    assert run is not None
    assert run.state is WorkflowState.COMPLETED
    assert json.loads(run.result) == RESULT
    assert len(steps) == AGENTS
    assert all(step.state is StepState.DONE for step in steps)
    # The attempt that is recorded as done is so once.
    assert done_counts(where) == Counter((step.key, step.occurrence) for step in steps)


def new_run(where: str) -> None:
    store = open_store(where)
    store.runs.add(
        RunRecord(id="r", name="audit", kind="script", script=SCRIPT, args=json.dumps(ITEMS))
    )
    store.close()
    count_done(where)


@pytest.mark.parametrize("kill_after", [4, 9, 17, 25])
def test_killed_after_a_transaction(tmp_path: Path, kill_after: int) -> None:
    where = str(tmp_path / "journal.sqlite")
    new_run(where)
    assert run_until_done(where, tmp_path / "log", [kill_after])
    check(where)


@pytest.mark.skipif("AGENT_TUI_SOAK" not in os.environ, reason="runs in make soak")
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_killed_after_every_transaction(
    store: str, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """A round for each transaction, until a run ends before its kill."""
    for kill_after in itertools.count(1):
        where = str(tmp_path / f"journal-{kill_after}.sqlite")
        if store == "postgres":
            where = own_schema(request.getfixturevalue("postgres_socket"))
        new_run(where)
        was_killed = run_until_done(where, tmp_path / f"log-{kill_after}", [kill_after])
        check(where)
        if not was_killed:
            break
    with capsys.disabled():
        print(f"{store}: killed after each of {kill_after - 1} transactions")
    assert kill_after > 2 * AGENTS


def test_killed_six_times_on_postgres(postgres_url: str, tmp_path: Path) -> None:
    new_run(postgres_url)
    run_until_done(postgres_url, tmp_path / "log", [6, 9, 12, 15, 18, 21])
    check(postgres_url)


def test_two_processes_on_one_run(tmp_path: Path) -> None:
    """The second waits for the first's lease, takes the run over, and repeats nothing."""
    where, log = str(tmp_path / "journal.sqlite"), tmp_path / "log"
    new_run(where)
    command = [sys.executable, "-m", "tests.agent.orchestration.killed_run", where, "r", str(log)]
    first = subprocess.Popen([*command, "20", "1"], cwd=ROOT, stdout=subprocess.DEVNULL)
    second = subprocess.run(
        [*command, "0", "2"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    first.wait()
    ends = ("completed", "stopped another process took the run r over")
    assert second.stdout.startswith(ends), (second.stdout, second.stderr[-2000:])
    run_until_done(where, log, [])
    check(where)
