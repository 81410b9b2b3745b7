"""Durable runs: killed at random points they go on, and nothing that was done is done again."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent import (
    Agent,
    DurableRunner,
    MaxTurnsExceeded,
    UserError,
    function_tool,
)
from agent.library.durable.owners import OwnerLocks
from agent.library.durable.sqlite_clock import connect_options
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.agent.library.conftest import Serve
from tests.repo.checkout import ROOT

DRIVERS, ROUNDS = (4, 50) if os.environ.get("AGENT_TUI_SOAK") else (1, 2)
"""Processes that kill side by side, and rounds of each."""
DONE = Turn((Text("Done."),), times=0)


async def drive(place: str, *, rounds: int, seed: int) -> dict[str, object]:
    """Kill runs in a directory or a database, in a process of its own; return what was found."""
    command = ["-m", "tests.agent.library.durable_kills", str(rounds), str(seed), place]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    found: dict[str, object] = json.loads(output)
    return found


@pytest.mark.timeout(1800)
async def test_a_killed_run_continues_without_a_finished_step_twice(tmp_path: Path) -> None:
    places = [tmp_path / str(number) for number in range(DRIVERS)]
    for place in places:
        place.mkdir()
    drives = [drive(str(place), rounds=ROUNDS, seed=n) for n, place in enumerate(places)]
    found = await asyncio.gather(*drives)
    assert [each["repeated"] for each in found] == [[]] * DRIVERS
    assert [each["wrong"] for each in found] == [[]] * DRIVERS
    assert all(int(str(each["kills"])) >= ROUNDS for each in found)


async def test_an_approval_waits_for_another_process(serve: Serve, tmp_path: Path) -> None:
    server = await serve(Turn((ToolCall("erase", {"name": "a"}),)), DONE)
    erased: list[str] = []

    @function_tool(needs_approval=True)
    def erase(name: str) -> str:
        erased.append(name)
        return "gone"

    agent = Agent("Eraser", tools=[erase])
    async with DurableRunner([agent], tmp_path / "runs.db") as runner:
        run = await runner.start(agent, "erase a", run_id="one")
        assert [call.name for call in await run.interruptions()] == ["erase"]
    assert erased == []
    async with DurableRunner([agent], tmp_path / "runs.db") as runner:
        run = runner.get("one")
        await run.approve((await run.interruptions())[0])
        result = await run.result()
    assert (result.final_output, erased) == ("Done.", ["a"])
    assert len(server.requests) == 2


async def test_what_ended_a_run_is_raised_again(serve: Serve, tmp_path: Path) -> None:
    @function_tool
    def look() -> str:
        return "nothing"

    await serve(Turn((ToolCall("look", {}),), times=0))
    agent = Agent("Looker", tools=[look])
    async with DurableRunner([agent], tmp_path / "runs.db") as runner:
        run = await runner.start(agent, "look", run_id="one", max_turns=2)
        with pytest.raises(MaxTurnsExceeded, match="Max turns \\(2\\) exceeded"):
            await run.result()
        with pytest.raises(UserError, match="There is no run 'two'"):
            await runner.get("two").result()


def test_a_number_is_taken_once_and_again_when_its_process_is_gone(tmp_path: Path) -> None:
    first, second = OwnerLocks(tmp_path), OwnerLocks(tmp_path)
    assert (first.number, second.number) == (0, 1)
    assert second.take_dead() == []
    first.release()
    assert second.take_dead() == [0]
    assert OwnerLocks(tmp_path).number == 2


def test_every_version_of_sqlite_has_the_clock_that_dbos_calls() -> None:
    with closing(sqlite3.connect(":memory:", **connect_options())) as connection:
        times = connection.execute("SELECT unixepoch('subsec'), unixepoch('now')").fetchone()
    assert times[0] == pytest.approx(times[1], abs=60)
