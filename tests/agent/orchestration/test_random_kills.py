"""Runs whose processes are killed at random moments: nothing finished is done again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from agent.orchestration.journal.journal_records import RunRecord, StepState, WorkflowState
from agent.orchestration.script.script_engine import has_engine
from tests.agent.orchestration.done_rows import count_done, done_counts
from tests.agent.orchestration.killed_run import open_store
from tests.repo.checkout import ROOT

pytestmark = pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
SCRIPT = """export const meta = { name: 'audit', description: 'finds, refutes, repairs' };
const refute = (text, item) => agent('refute ' + item);
const repair = (text, item) => agent('repair ' + item);
const found = await pipeline(args, item => agent('find ' + item), refute, repair);
for (let n = 0; n < 2; n++) found.push(await agent('the same'));
return found;
"""
ITEMS = 66 if "AGENT_TUI_SOAK" in os.environ else 6
KILLS = 20 if "AGENT_TUI_SOAK" in os.environ else 2
SEEDS = 2 if "AGENT_TUI_SOAK" in os.environ else 1


class Endpoint:
    """What the agents ask: it counts, and looks into the journal when it is asked."""

    def __init__(self, where: str, luck: random.Random) -> None:
        self.store = open_store(where)
        self.luck = luck
        self.open = self.most = 0
        self.again: list[str] = []
        """Prompts of steps that were done when they were asked."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            prompt, key, occurrence = json.loads(await reader.readline())
            step = self.store.steps.get("r", key, occurrence)
            if step is None or step.state is StepState.DONE:
                self.again.append(prompt)
            await asyncio.sleep(self.luck.uniform(0.01, 0.06))
            writer.write(f"did {prompt}\n".encode())
            await writer.drain()
        except (OSError, ValueError):
            pass  # its process was killed
        finally:
            self.open -= 1
            writer.close()


async def start(role: str, where: str, port: int) -> asyncio.subprocess.Process:
    words = ("-m", "tests.agent.orchestration.kill_roles", role, where, str(port))
    return await asyncio.create_subprocess_exec(sys.executable, *words, cwd=ROOT)


async def run_with_kills(where: str, roles: list[str], luck: random.Random) -> Endpoint:
    """Kill processes and start them again until the run is over."""
    endpoint = Endpoint(where, luck)
    server = await asyncio.start_server(endpoint.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    processes = [await start(role, where, port) for role in roles]
    left = KILLS
    while (run := endpoint.store.runs.get("r")) is not None and not run.state.is_over:
        await asyncio.sleep(luck.uniform(0.1, 0.5))
        at = luck.randrange(len(roles))
        has_begun = any(endpoint.store.steps.of_run("r"))
        if left and has_begun:
            left -= 1
            if processes[at].returncode is None:
                processes[at].kill()
            await processes[at].wait()
            processes[at] = await start(roles[at], where, port)
    for process in processes:
        if process.returncode is None:
            process.kill()
        await process.wait()
    server.close()
    await server.wait_closed()
    return endpoint


def check(endpoint: Endpoint, where: str) -> None:
    run, steps = endpoint.store.runs.get("r"), endpoint.store.steps.of_run("r")
    endpoint.store.close()
    assert run is not None
    assert run.state is WorkflowState.COMPLETED, run.reason
    expected = [f"did repair {item}" for item in range(ITEMS)] + ["did the same"] * 2
    assert json.loads(run.result) == expected
    assert len(steps) == 3 * ITEMS + 2
    assert all(step.state is StepState.DONE for step in steps)
    assert endpoint.again == []
    assert done_counts(where) == Counter((step.key, step.occurrence) for step in steps)
    assert endpoint.most <= 10


def new_run(where: str) -> None:
    store = open_store(where)
    args = json.dumps(list(range(ITEMS)))
    store.runs.add(RunRecord(id="r", name="audit", kind="script", script=SCRIPT, args=args))
    store.close()
    count_done(where)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("processes", [1, 2])
async def test_killed_at_random_with_a_file(tmp_path: Path, processes: int, seed: int) -> None:
    where = str(tmp_path / "journal.sqlite")
    new_run(where)
    check(await run_with_kills(where, ["owner"] * processes, random.Random(seed)), where)


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_killed_at_random_with_two_workers(
    postgres_socket: Path, postgres_url: str, seed: int
) -> None:
    del postgres_url  # the schema is made
    place = quote(str(postgres_socket), safe="")
    where = f"postgresql://tester@/postgres?host={place}&options=-csearch_path%3Djournal"
    new_run(where)
    roles = ["queue_owner", "worker", "worker"]
    check(await run_with_kills(where, roles, random.Random(seed)), where)
