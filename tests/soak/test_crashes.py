"""The crash matrix: SIGKILL at random instants of a tool-heavy run, then a resume.

Held: what was on the disk stays, no tool's effect happens twice, results that were recorded are
true, and the resumed run goes on to its end with requests that an endpoint takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.history import problems
from agent.messages import Message, user_message
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Part, Scenario, Text, Thinking, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.session.record_json import from_json
from agent.session.record_lines import Line, read_forwards
from agent.session.records import MessageRecord, ToolEnd
from agent.session.resume import load
from tests.journeys.program import environment
from tests.soak.run_program import Zygote, zygote
from tests.soak.scale import KILL_PARTS, KILLS

STEPS = 5
CALLS_PER_STEP = 3
LAST_RESUMES = 3


def respond(request: RecordedRequest) -> Turn:
    """Ask for the next calls, numbered on from those the conversation knows of."""
    known = [
        block["id"]
        for message in request.body["messages"]
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    step = len(known) // CALLS_PER_STEP
    if step >= STEPS:
        return Turn((Text("All done."),))
    parts: list[Part] = [Thinking("Next."), Text(f"Step {step}.")]
    for number in range(CALLS_PER_STEP):
        parts.append(_call(f"{step}-{number}", number))
    return Turn(tuple(parts))


def _call(name: str, number: int) -> ToolCall:
    command = f"echo {name} >> effects"
    if number == 2:
        write = {"file_path": "${cwd}/" + f"file-{name}.txt", "content": f"{name}\n"}
        return ToolCall("Write", write, id=f"toolu_{name}")
    return ToolCall("Bash", {"command": command}, id=f"toolu_{name}")


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(KILL_PARTS))
async def test_a_kill_loses_nothing_and_repeats_nothing(part: int, tmp_path: Path) -> None:
    rng = random.Random(part)
    scenario = Scenario(bound_thinking=True)
    outcomes: Counter[str] = Counter()
    async with zygote(tmp_path) as starter:
        step_s = await _step(starter, tmp_path, scenario)
        for number in range(part, KILLS, KILL_PARTS):
            directory = tmp_path / str(number)
            outcomes[await _killed_run(starter, directory, scenario, rng, step_s)] += 1
    # How many depends on how busy the machine was when a step was timed.
    assert outcomes["killed"], outcomes


async def _step(starter: Zygote, tmp_path: Path, scenario: Scenario) -> float:
    """Return how long one request and its calls take in a run that nobody kills, in seconds."""
    async with _server(tmp_path / "whole", scenario) as (server, project, env):
        out = tmp_path / "whole" / "out"
        await _run(starter, "go", cwd=project, env=env, out=out)
        assert "All done." in out.read_text()
        assert len(_effects(project)) == STEPS * (CALLS_PER_STEP - 1)
        first, *_, last = server.requests
        return (last.started_at - first.started_at) / STEPS


@contextlib.asynccontextmanager
async def _server(
    directory: Path, scenario: Scenario
) -> AsyncIterator[tuple[ScriptedServer, Path, dict[str, str]]]:
    project = directory / "project"
    project.mkdir(parents=True)
    async with ScriptedServer(
        scenario,
        variables={"cwd": str(project)},
        respond=respond,
        clock=asyncio.get_running_loop().time,
    ) as server:
        yield server, project, environment(directory, server.base_url)


async def _start(starter: Zygote, *arguments: str, **where: Any) -> int:
    return await starter.start("-p", *arguments, "--allow", "Bash,Edit,Write", **where)


async def _run(starter: Zygote, *arguments: str, **where: Any) -> int:
    await _start(starter, *arguments, **where)
    return await starter.ended()


async def _killed_run(
    starter: Zygote, directory: Path, scenario: Scenario, rng: random.Random, step_s: float
) -> str:
    async with _server(directory, scenario) as (server, project, env):
        out = directory / "out"
        where = {"cwd": project, "env": env, "out": out}
        process = await _start(starter, "go", **where)
        step = rng.randint(1, STEPS)
        while len(server.requests) < step:  # noqa: ASYNC110 - the server announces no request
            await asyncio.sleep(0.005)
        await asyncio.sleep(
            rng.uniform(0, step_s)
        )  # the instant of the kill is the point of this test
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        status = await starter.ended()
        transcript = next((directory / ".agent" / "sessions").glob("*/*.jsonl"))
        before = transcript.read_bytes()
        kept = before[: before.rfind(b"\n") + 1]
        _check_recorded(transcript, project)
        resumed = load(transcript)
        assert problems((*resumed.messages, user_message("go on"))) == ()
        for _ in range(LAST_RESUMES):
            assert await _run(starter, "go on", "-c", **where) == 0, out.read_text()
            if "All done." in out.read_text():
                break
        assert transcript.read_bytes().startswith(kept), "a record that was on disk is gone"
        repeated = [name for name, times in Counter(_effects(project)).items() if times > 1]
        assert repeated == []
        assert [r.problem for r in server.requests if r.problem] == []
        _check_recorded(transcript, project)
        return "killed" if status == -signal.SIGKILL else "ended before"


def _effects(project: Path) -> list[str]:
    file = project / "effects"
    return file.read_text().split() if file.exists() else []


def _check_recorded(transcript: Path, project: Path) -> None:
    """What the transcript says of a call is so."""
    effects = set(_effects(project))
    results: list[str] = []
    for line in read_forwards(transcript):
        record = from_json(line.data) if isinstance(line, Line) else None
        if isinstance(record, ToolEnd) and record.outcome == "ok":
            name = record.tool_use_id.removeprefix("toolu_")
            if record.name == "Bash":
                assert name in effects
            else:
                assert (project / f"file-{name}.txt").read_text() == f"{name}\n"
        if isinstance(record, MessageRecord):
            results += _answered(record.message)
    assert len(results) == len(set(results)), "a call was answered twice"


def _answered(message: Message) -> list[str]:
    return [
        str(block["tool_use_id"]) for block in message.content if block.get("type") == "tool_result"
    ]
