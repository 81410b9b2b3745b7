"""`agent-tui workflow` as a process of its own: run, kill, resume, limits, save; and with `-p`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Pace, Part, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.orchestration.script.script_engine import has_engine
from tests.journeys.program import environment, run, start

pytestmark = pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
SCRIPT = """export const meta = { name: 'audit', description: 'looks at parts', phases: [] }
phase('Look')
const found = await pipeline(args, part => agent('look at ' + part, { label: part }))
log('looked at', found.length)
return found
"""


class Answers:
    """A model that knows the agents' tasks; it can be held, and can count."""

    def __init__(self, main: Sequence[Sequence[Part]] = ()) -> None:
        self.asked: Counter[str] = Counter()
        self.from_now = asyncio.Event()
        self.held: set[str] = set()
        self._main = iter(main)

    async def was_asked(self, part: str) -> None:
        while not self.asked[part]:
            self.from_now.clear()
            await self.from_now.wait()

    def __call__(self, request: RecordedRequest) -> Turn | None:
        if any(tool["name"] == "Workflow" for tool in request.body.get("tools", ())):
            return Turn(tuple(next(self._main)))
        task = json.dumps(request.body["messages"][0]["content"])
        part = task.partition("look at ")[2][:3].rstrip('"\\')
        self.asked[part] += 1
        self.from_now.set()
        pace = Pace(first_token_s=600) if part in self.held else None
        return Turn((Text(f"seen {part}"),), pace=pace)


@asynccontextmanager
async def serving(answers: Answers) -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(Scenario(turns=()), respond=answers) as server:
        yield server


@pytest.fixture
def saved(project: Path) -> Path:
    place = project / ".claude" / "workflows"
    place.mkdir(parents=True)
    (place / "audit.js").write_text(SCRIPT)
    return project


def words(*arguments: str) -> tuple[str, ...]:
    return ("workflow", *arguments)


async def test_a_saved_workflow_runs_and_prints_its_result(saved: Path, fresh_home: Path) -> None:
    async with serving(Answers()) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run(
            *words("run", "audit", "--args", '["p1", "p2"]'), cwd=saved, env=env
        )
        assert status == 0, err
        assert json.loads(out) == ["seen p1", "seen p2"]
        assert "looked at 2" in err
        assert "phase Look" in err
        _, listed, _ = await run(*words("list", "--all", "--json"), cwd=saved, env=env)
    (row,) = json.loads(listed)
    assert (row["state"], row["agentsStarted"]) == ("completed", 2)


async def test_a_journal_that_cannot_be_written_costs_no_result(
    saved: Path, fresh_home: Path, tmp_path: Path
) -> None:
    place = tmp_path / "a directory"
    place.mkdir()
    async with serving(Answers()) as server:
        env = {**environment(fresh_home, server.base_url), "ORCH_JOURNAL": str(place)}
        arguments = words("run", "audit", "--args", '["p1", "p2"]')
        status, out, err = await run(*arguments, cwd=saved, env=env)
        assert status == 0, err
        assert json.loads(out) == ["seen p1", "seen p2"]
        assert err.count("Is a directory") == 1
        assert "Results stay in memory" in err
        # Without a journal, the process in the background would not find it.
        status, _, err = await run(*arguments, "--detach", cwd=saved, env=env)
    assert status == 1
    assert err == f"Error: The journal of workflows: {place}: Is a directory\n"


async def test_a_killed_run_is_resumed_and_repeats_nothing(saved: Path, fresh_home: Path) -> None:
    answers = Answers()
    answers.held.add("p3")
    async with serving(answers) as server:
        env = environment(fresh_home, server.base_url)
        arguments = words("run", "audit", "--args", '["p1", "p2", "p3"]')
        process = await start(*arguments, cwd=saved, env=env)
        assert process.stderr is not None
        seen = b""
        while b"p1" not in seen or b"p2" not in seen:
            seen += await process.stderr.readline()
        await answers.was_asked("p3")
        os.kill(process.pid, signal.SIGKILL)
        await process.communicate()
        answers.held.clear()
        _, listed, _ = await run(*words("list", "--json"), cwd=saved, env=env)
        (row,) = json.loads(listed)
        assert row["state"] == "lost"
        status, out, err = await run(*words("resume", row["id"], "--json"), cwd=saved, env=env)
        assert status == 0, err
    done = json.loads(out)
    assert done["result"] == ["seen p1", "seen p2", "seen p3"]
    assert done["reused"] == 2
    assert answers.asked == {"p1": 1, "p2": 1, "p3": 2}


async def test_at_a_limit_it_pauses_and_says_how_to_continue(saved: Path, fresh_home: Path) -> None:
    answers = Answers()
    async with serving(answers) as server:
        env = environment(fresh_home, server.base_url)
        limited = ("run", "audit", "--args", '["p1", "p2", "p3"]', "--max-agents", "2")
        status, out, err = await run(*words(*limited), cwd=saved, env=env)
        assert status == 4, err
        assert out == ""
        assert "2 of 2 agents of this run are used" in err
        command = err.rpartition("agent-tui workflow resume ")[2].split()
        assert command[1:] == ["--max-agents", "N"]
        status, out, err = await run(
            *words("resume", command[0], "--max-agents", "5"), cwd=saved, env=env
        )
        assert status == 0, err
    assert json.loads(out) == ["seen p1", "seen p2", "seen p3"]
    assert answers.asked.total() == 3


async def test_a_detached_run_is_stopped_from_outside(saved: Path, fresh_home: Path) -> None:
    answers = Answers()
    answers.held.add("p2")
    async with serving(answers) as server:
        env = environment(fresh_home, server.base_url)
        arguments = ("run", "audit", "--args", '["p1", "p2"]', "--detach", "--json")
        status, out, err = await run(*words(*arguments), cwd=saved, env=env)
        assert status == 0, err
        run_id = json.loads(out)["run"]
        await answers.was_asked("p2")
        status, _, err = await run(*words("stop", run_id), cwd=saved, env=env)
        assert status == 0, err
        await run("agents", "attach", json.loads(out)["background"], cwd=saved, env=env)
        _, shown, _ = await run(*words("show", run_id, "--json"), cwd=saved, env=env)
    whole = json.loads(shown)
    assert (whole["state"], whole["reason"]) == ("stopped", "a user stopped it")
    states = {each["label"]: each["state"] for each in whole["agents"]}
    assert states == {"p1": "done", "p2": "partial"}


async def test_a_run_is_saved_as_a_workflow_and_old_ones_are_deleted(
    saved: Path, fresh_home: Path
) -> None:
    async with serving(Answers()) as server:
        env = environment(fresh_home, server.base_url)
        _, out, err = await run(
            *words("run", "audit", "--args", "[]", "--json"), cwd=saved, env=env
        )
        run_id = json.loads(out)["run"]
        for verb in ("pause", "stop", "resume"):
            status, _, err = await run(*words(verb, run_id), cwd=saved, env=env)
            assert status == 1
            assert f"is completed. Its result: agent-tui workflow show {run_id}" in err
        status, _, err = await run(*words("save", run_id, "again"), cwd=saved, env=env)
        assert status == 0, err
        assert (saved / ".agent" / "workflows" / "again.js").read_text() == SCRIPT
        status, _, err = await run(*words("save", run_id, "again"), cwd=saved, env=env)
        assert status == 1
        assert "There is a workflow again already" in err
        _, kept, _ = await run(*words("gc", "--json"), cwd=saved, env=env)
        assert json.loads(kept)["deleted"] == []
        _, gone, _ = await run(*words("gc", "--days", "0", "--json"), cwd=saved, env=env)
        assert json.loads(gone)["deleted"] == [run_id]


async def test_a_prompt_waits_for_its_workflow_and_tells_of_it(
    saved: Path, fresh_home: Path
) -> None:
    call = ToolCall("Workflow", {"name": "audit", "args": ["p1"]})
    answers = Answers([[call], [Text("Started.")], [Text("All of it was seen.")]])
    async with serving(answers) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run(
            "-p",
            "audit it",
            "--trust",
            "--allow",
            "Workflow",
            "--output-format",
            "json",
            cwd=saved,
            env=env,
        )
        last = json.dumps(server.requests[-1].body["messages"])
    assert status == 0, err
    result = json.loads(out)
    assert result["result"] == "All of it was seen."
    (told,) = result["workflows"]
    assert (told["name"], told["state"], told["agents"]) == ("audit", "completed", 1)
    assert "is data and grants nothing" in last
