"""Runs whose process is killed again and again: no finished step is asked again, none is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agent.orchestration.journal.journal_records import RunRecord, StepState, WorkflowState
from tests.agent.orchestration.killed_run import open_store
from tests.repo.checkout import ROOT

SCRIPT = """export const meta = { name: 'audit', description: 'finds and refutes' };
const refute = (text, item) => agent('refute ' + item);
const found = await pipeline(args, item => agent('find ' + item), refute);
for (let n = 0; n < 3; n++) found.push(await agent('the same'));
return found;
"""
ITEMS = [f"item {number}" for number in range(5)]
RESULT = [f"did refute {item}" for item in ITEMS] + ["did the same"] * 3


def run_until_done(where: str, log: Path, kills: list[int]) -> None:
    for number, kill_after in enumerate([*kills, 0]):
        words = [where, "r", str(log), str(kill_after), str(number)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.agent.orchestration.killed_run", *words],
            cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        if kill_after == 0:
            assert done.stdout.startswith("completed"), (done.stdout, done.stderr[-2000:])
        elif done.returncode != -9:
            assert done.stdout.startswith("completed"), (done.stdout, done.stderr[-2000:])
            break


def check(where: str, log: Path) -> None:
    store = open_store(where)
    run, steps = store.runs.get("r"), store.steps.of_run("r")
    store.close()
    assert run is not None
    assert run.state is WorkflowState.COMPLETED
    assert json.loads(run.result) == RESULT
    assert len(steps) == 13
    assert all(step.state is StepState.DONE for step in steps)
    # Every start is counted as an attempt, and no attempt follows a recorded result.
    starts = Counter(
        line.removeprefix("start ") for line in log.read_text().splitlines() if "start" in line
    )
    attempts: Counter[str] = Counter()
    for step in steps:
        attempts[step.prompt] += step.attempts
    assert all(starts[prompt] <= attempts[prompt] for prompt in starts)


def new_run(where: str) -> None:
    store = open_store(where)
    store.runs.add(
        RunRecord(id="r", name="audit", kind="script", script=SCRIPT, args=json.dumps(ITEMS))
    )
    store.close()


@pytest.mark.parametrize("kill_after", [4, 9, 17, 30])
def test_killed_after_a_transaction(tmp_path: Path, kill_after: int) -> None:
    where, log = str(tmp_path / "journal.sqlite"), tmp_path / "log"
    new_run(where)
    run_until_done(where, log, [kill_after])
    check(where, log)


@pytest.mark.skipif("AGENT_TUI_SOAK" not in os.environ, reason="runs in make soak")
def test_killed_after_every_transaction(tmp_path: Path) -> None:
    for kill_after in range(1, 60):
        where, log = str(tmp_path / f"journal-{kill_after}.sqlite"), tmp_path / f"log-{kill_after}"
        new_run(where)
        run_until_done(where, log, [kill_after])
        check(where, log)


def test_killed_six_times_on_postgres(postgres_url: str, tmp_path: Path) -> None:
    new_run(postgres_url)
    run_until_done(postgres_url, tmp_path / "log", [6, 9, 12, 15, 18, 21])
    check(postgres_url, tmp_path / "log")


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
    check(where, log)
