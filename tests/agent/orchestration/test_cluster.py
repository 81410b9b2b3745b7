"""Agents of one run on several workers, through a queue in a Postgres server of the test's own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from agent.abort import AbortSignal
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Pace, Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from agent.orchestration.cluster.agent_queue import QueuedAgent, QueueError, open_queue
from agent.orchestration.cluster.queue_worker import QueueWorker
from agent.orchestration.cluster.repository_commit import repository_commit
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_records import (
    Caps,
    RunRecord,
    StepPlace,
    StepRecord,
    StepState,
)
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.sqlite_connection import SqliteConnection
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder
from agent.orchestration.script.script_engine import has_engine
from tests.journeys.program import Started, environment, run, start

SCRIPT = """export const meta = { name: 'audit', description: 'looks at parts' }
return await pipeline(args, part => agent('look at ' + part + '.', { label: part }))
"""
PARTS = ["p1", "p2", "p3", "p4"]


class Answers:
    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.was_asked = asyncio.Event()
        self.holds = True

    def __call__(self, request: RecordedRequest) -> Turn:
        text = json.dumps(request.body["messages"][0]["content"])
        part = text.partition("look at ")[2].partition(".")[0]
        self.asked[part] += 1
        self.was_asked.set()
        is_held = self.holds and part == "p2"
        return Turn((Text(f"seen {part}"),), pace=Pace(first_token_s=600) if is_held else None)


def git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    directory = tmp_path / "repository"
    place = directory / ".agent" / "workflows"
    place.mkdir(parents=True)
    (place / "audit.js").write_text(SCRIPT)
    git(directory, "init", "-q")
    git(directory, "add", ".")
    git(directory, "commit", "-qm", "a")
    return directory


@pytest.fixture
def queue(postgres_socket: Path, postgres_url: str) -> str:
    del postgres_url  # makes the schema
    where = quote(str(postgres_socket), safe="")
    return f"postgresql://tester@/postgres?host={where}&options=-csearch_path%3Djournal"


async def until(process: Started, text: str) -> None:
    assert process.stderr is not None
    seen = b""
    while text.encode() not in seen:
        line = await process.stderr.readline()
        assert line, seen.decode()
        seen += line


@pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
async def test_a_dead_workers_agent_is_done_by_another(
    repository: Path, fresh_home: Path, queue: str
) -> None:
    answers = Answers()
    async with ScriptedServer(Scenario(turns=()), respond=answers) as server:
        env = environment(fresh_home, server.base_url)
        worker = ("workflow", "worker", "--queue", queue)
        first = await start(*worker, cwd=repository, env=env)
        await until(first, "runs agents at commit")
        owner = asyncio.ensure_future(
            run(
                *("workflow", "run", "audit", "--json", "--args", json.dumps(PARTS)),
                *("--queue", queue),
                cwd=repository,
                env=env,
            )
        )
        while not answers.asked["p2"]:
            answers.was_asked.clear()
            await answers.was_asked.wait()
        os.kill(first.pid, signal.SIGKILL)
        await first.communicate()
        answers.holds = False
        second = await start(*worker, cwd=repository, env=env)
        status, out, err = await owner
        assert status == 0, err
        second.send_signal(signal.SIGINT)
        await second.communicate()
        assert second.returncode == 130
    done = json.loads(out)
    assert done["result"] == [f"seen {part}" for part in PARTS]
    assert answers.asked["p2"] == 2


async def test_a_worker_takes_agents_of_its_commit_alone(queue: str) -> None:
    taken: list[str] = []
    done = asyncio.Event()

    async def work(agent: QueuedAgent) -> None:
        taken.append(agent.order.prompt)
        done.set()

    async with open_queue(queue, "a" * 40) as own, open_queue(queue, "b" * 40) as other:
        await other.put(QueuedAgent(AgentOrder(prompt="elsewhere")))
        withdrawn = await own.put(QueuedAgent(AgentOrder(prompt="withdrawn")))
        await own.withdraw(withdrawn)
        await own.put(QueuedAgent(AgentOrder(prompt="here")))
        working = asyncio.ensure_future(own.work(work, 1))
        await done.wait()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    assert taken == ["here"]


class Overloaded:
    """Agents that find no capacity once, then answer."""

    def __init__(self) -> None:
        self.orders: list[AgentOrder] = []

    async def run(self, order: AgentOrder, _abort: AbortSignal) -> AgentAnswer:
        self.orders.append(order)
        if len(self.orders) == 1:
            return AgentAnswer(state=StepState.FAILED, reason="529", retry_after_s=0.01)
        return AgentAnswer(state=StepState.DONE, value="seen", tokens=7)


async def test_a_worker_waits_for_capacity_and_takes_nothing_twice(tmp_path: Path) -> None:
    path, agents, shown = tmp_path / "journal.sqlite", Overloaded(), list[str]()
    journal = Journal(lambda: JournalStore(SqliteConnection(path)), shown.append)
    run = RunRecord(id="r", name="n", kind="script", script="s", owner="owner")
    await journal.add(run)
    step = StepRecord(run="r", key="k", owner="owner", prompt="look")
    await journal.claim(step, run, Caps())
    order = AgentOrder(prompt="look", place=StepPlace("r", "k", 0, "owner"))
    worker = QueueWorker(journal, agents.run, shown.append)
    await worker.work(QueuedAgent(order))
    await worker.work(QueuedAgent(order))
    done = await journal.ask(lambda store: store.steps.get("r", "k", 0))
    await journal.aclose()
    assert done is not None
    assert (done.state, done.result, done.tokens) == (StepState.DONE, '"seen"', 7)
    assert len(agents.orders) == 2
    assert shown == ["works   look", "done    look", "no longer needed: look"]


async def test_only_a_commit_without_changes_is_shared(repository: Path, tmp_path: Path) -> None:
    commit = await repository_commit(repository)
    assert len(commit) == 40
    (repository / "new.txt").write_text("not tracked")
    assert await repository_commit(repository) == commit
    (repository / ".agent" / "workflows" / "audit.js").write_text(SCRIPT + "\n")
    with pytest.raises(QueueError, match="changes to 1 files"):
        await repository_commit(repository)
    with pytest.raises(QueueError, match="need a git repository"):
        await repository_commit(tmp_path)
