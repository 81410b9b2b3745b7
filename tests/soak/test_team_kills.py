"""SIGKILL at random instants of a team's run, its leader or a worker; then the leader comes back.

Held: no subtask is given twice and no effect happens twice, every message is recorded once, every
permission question has one answer, the histories are valid, and the team ends with its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from agent.history import problems
from agent.messages import user_message
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Part, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.session.resume import load
from agent.teams.lease import holder
from agent.teams.team_history import TeamHistory, read_team_history
from tests.journeys.program import environment
from tests.soak.run_program import Zygote, zygote
from tests.soak.scale import IS_SOAK

STEPS: Final = 3
NAMES: Final = ("ada", "bob")
ANSWER: Final = "Both did their three steps."
REQUESTS: Final = (STEPS + 1) * len(NAMES) + 2
"""What a run makes at least: a delegation, the workers' steps and reports, and the answer."""
LAST_RESUMES: Final = 6
MODES: Final = ("in-process", "process", "panes")
ROUNDS: Final = 300 if IS_SOAK else 1
PARTS: Final = 10 if IS_SOAK else 1
TRIES: Final = 3
"""How often a run is begun again that had ended before the kill came."""
QUESTION: Final = """#!/bin/sh
input=$(cat)
case "$input" in
*/teams/crew/agents/*) exit 0 ;;
esac
printf '%s' "$input" | grep -o 'echo [a-z]*-[0-9]' | head -1 >> questions
echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest",\
 "decision": {"behavior": "allow"}}}'
"""
"""Stands for the user: answers the leader's questions, not those of a worker itself."""


def respond(request: RecordedRequest) -> Turn:
    """Play the leader, a worker or the synthesis, from what the conversation knows alone."""
    body = request.body
    tools = {tool["name"] for tool in body.get("tools", [])}
    if not tools:
        return Turn((Text(ANSWER),))
    blocks = [block for message in body["messages"] for block in message["content"]]
    if "SpawnTeammate" in tools:
        begun = json.dumps([block for block in blocks if block["type"] == "tool_result"])
        # One that was interrupted may have begun all the same.
        missing = [
            name for name in NAMES if f"{name}@crew has begun" not in begun
            and f"There is a {name} already" not in begun
        ]  # fmt: skip
        parts: list[Part] = [_spawn(name) for name in missing]
        return Turn(tuple(parts) or (Text("They work."),))
    name = next(name for name in NAMES if f"Work as {name}." in json.dumps(body["messages"]))
    step = sum(block["type"] == "tool_use" for block in blocks)
    if step >= STEPS:
        return Turn((Text(f"{name} did {STEPS} steps."),))
    command = f"echo {name}-{step} >> effects"
    return Turn((ToolCall("Bash", {"command": command}, id=f"toolu_{name}_{step}"),))


def _spawn(name: str) -> ToolCall:
    return ToolCall(
        "SpawnTeammate", {"name": name, "prompt": f"Work as {name}.", "tools": ["Bash"]}
    )


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", range(PARTS))
async def test_kills_lose_no_message_and_run_no_subtask_twice(
    part: int, mode: str, tmp_path: Path
) -> None:
    if mode == "panes" and shutil.which("tmux") is None:
        pytest.skip("no tmux here")
    rng = random.Random(f"{mode} {part}")
    outcomes: Counter[str] = Counter()
    async with zygote(tmp_path) as starter:
        with _terminal(mode) as window:
            whole_s = await _whole_run(starter, tmp_path / "whole", mode, window)
            for number in range(part, ROUNDS, PARTS):
                for attempt in range(TRIES):
                    place = tmp_path / f"{number}-{attempt}"
                    outcome = await _killed_run(starter, place, mode, window, rng, whole_s)
                    outcomes[outcome] += 1
                    if outcome == "killed":
                        break
    print(mode, part, dict(outcomes))
    assert outcomes["killed"], outcomes


@contextlib.contextmanager
def _terminal(mode: str) -> Iterator[Callable[[], dict[str, str]]]:
    """Yield what makes a terminal for one run: the variables of a pane, where the mode needs it."""
    if mode != "panes":
        yield dict
        return
    tmux = ("tmux", "-L", f"agent-tui-{uuid.uuid4().hex[:8]}", "-f", "/dev/null")
    size = ("-x", "200", "-y", "60")

    def call(*arguments: str) -> str:
        done = subprocess.run(
            [*tmux, *arguments], check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout.strip()

    def window() -> dict[str, str]:
        pane = call("new-window", "-d", "-t", "t:", "-P", "-F", "#{pane_id}", "cat")
        return {"TMUX": call("display-message", "-p", "#{socket_path},#{pid},0"), "TMUX_PANE": pane}

    call("new-session", "-d", *size, "-s", "t", "cat")
    try:
        yield window
    finally:
        call("kill-server")


@contextlib.asynccontextmanager
async def _served(
    directory: Path, window: Callable[[], dict[str, str]]
) -> AsyncIterator[tuple[ScriptedServer, dict[str, Any]]]:
    project = directory / "project"
    project.mkdir(parents=True)
    script = directory / "question.sh"
    script.write_text(QUESTION)
    hook = {"type": "command", "command": f"sh {script}"}
    (directory / ".agent").mkdir()
    settings = {"hooks": {"PermissionRequest": [{"hooks": [hook]}]}}
    (directory / ".agent" / "settings.json").write_text(json.dumps(settings))
    async with ScriptedServer(Scenario(bound_thinking=True), respond=respond) as server:
        where = {
            "cwd": project,
            "env": {**environment(directory, server.base_url), **window()},
            "out": directory / "out",
        }
        yield server, where


async def _start(starter: Zygote, mode: str, *arguments: str, **where: Any) -> int:
    return await starter.start(
        "-p", *arguments, "--team", "crew", "--teammate-mode", mode, "--sandbox", "off", **where
    )


async def _whole_run(
    starter: Zygote, directory: Path, mode: str, window: Callable[[], dict[str, str]]
) -> float:
    """Return how long a run takes that nobody kills, in seconds."""
    async with _served(directory, window) as (_, where):
        begun = asyncio.get_running_loop().time()
        await _start(starter, mode, "go", **where)
        assert await starter.ended() == 0, where["out"].read_text()
        assert ANSWER in where["out"].read_text()
        _check(directory, mode, must_be_done=True)
        asked = Counter((directory / "project" / "questions").read_text().splitlines())
        assert set(asked.values()) == {1}
        assert len(asked) == STEPS * len(NAMES)
        return asyncio.get_running_loop().time() - begun


async def _killed_run(
    starter: Zygote,
    directory: Path,
    mode: str,
    window: Callable[[], dict[str, str]],
    rng: random.Random,
    whole_s: float,
) -> str:
    async with _served(directory, window) as (server, where):
        out: Path = where["out"]
        project: Path = where["cwd"]
        leader = await _start(starter, mode, "go", **where)
        kills_worker = mode != "in-process" and rng.random() < 0.5
        requests = rng.randint(1, REQUESTS)
        while len(server.requests) < requests:  # noqa: ASYNC110 - the server announces none
            await asyncio.sleep(0.005)
        # The instant of the kill is the point of this test.
        await asyncio.sleep(rng.uniform(0, whole_s / REQUESTS))
        if kills_worker:
            was_killed = _kill(holder(_member(directory, rng.choice(NAMES)) / "lease"))
        else:
            was_killed = _kill(leader)
        await starter.ended()
        if not kills_worker or not _has_answered(directory, out):
            for _ in range(LAST_RESUMES):
                prompt = ("go on", "-c") if _has_session(directory) else ("go",)
                await _start(starter, mode, *prompt, **where)
                await starter.ended()
                if _has_answered(directory, out):
                    break
        assert _has_answered(directory, out), out.read_text()
        assert [one.problem for one in server.requests if one.problem] == []
        _check(directory, mode, must_be_done=False)
        # A leader that is killed between the user's word and its record asks again.
        asked = Counter((project / "questions").read_text().splitlines())
        assert max(asked.values()) <= (1 if kills_worker else 2)
        return "killed" if was_killed else "ended before"


def _kill(process: int | None) -> bool:
    if not process:
        return False
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _has_session(directory: Path) -> bool:
    return any((directory / ".agent" / "sessions").glob("*/*.jsonl"))


def _has_answered(directory: Path, out: Path) -> bool:
    """Whether the answer was given: a leader may be killed between its record and its printing."""
    transcripts = (directory / ".agent" / "sessions").glob("*/*.jsonl")
    return ANSWER in out.read_text() or any(ANSWER in path.read_text() for path in transcripts)


def _member(directory: Path, name: str) -> Path:
    return directory / ".agent" / "teams" / "crew" / "agents" / name


def _check(directory: Path, mode: str, *, must_be_done: bool) -> None:
    """Hold the team's files against what has to be true after any kill."""
    effects = Counter((directory / "project" / "effects").read_text().split())
    assert [name for name, times in effects.items() if times > 1] == []
    if must_be_done:
        assert len(effects) == STEPS * len(NAMES)
    team = json.loads((directory / ".agent" / "teams" / "crew" / "team.json").read_text())
    executor = "tmux" if mode == "panes" else mode
    assert {member["executor"] for member in team["members"]} == {executor}
    for name in NAMES:
        [transcript] = _member(directory, name).glob("sessions/*/*-*-*.jsonl")
        history = _checked_history(transcript)
        assert [message.kind for message in history.mail].count("task") == 1
        told = [m for m in load(transcript).messages if m.origin == "agent"]
        assert sum("Work as" in message.text for message in told) == 1, "a subtask was given twice"
    leaders = list((directory / ".agent" / "sessions").glob("*/*.jsonl"))
    asked = {
        message.id
        for transcript in leaders
        for message in _checked_history(transcript).mail
        if message.kind == "permission_request"
    }
    lines = [line for path in leaders for line in path.read_text().splitlines()]
    # A kill may leave the last line cut off.
    answers = [json.loads(line) for line in lines if '"mail_answer"' in line and line[-1] == "}"]
    answered = Counter(record["request_id"] for record in answers)
    assert set(answered.values()) <= {1}, "a question was answered twice"
    assert set(answered) <= asked
    assert len(answered) >= len(effects), "something ran that nobody was asked about"


def _checked_history(transcript: Path) -> TeamHistory:
    history = read_team_history(transcript, "crew")
    ids = [message.id for message in history.mail]
    assert len(ids) == len(set(ids)), "a message was recorded twice"
    assert problems((*load(transcript).messages, user_message("go on"))) == ()
    return history
