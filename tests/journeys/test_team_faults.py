"""A disk that takes nothing while a team works: nobody waits for what never began."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from agent.events import MessageCommitted
from agent.model.scripted.scenario import Text, ToolCall
from tests.journeys.conftest import results, yes
from tests.journeys.test_team_workers import leader_of
from tests.journeys.test_teams import ANSWER, Team, lead, run, spawn, team_of, worker

DONE = worker("Read", Text("I read it."), times=0)


@contextlib.contextmanager
def unwritable(team: Team) -> Iterator[None]:
    """Have the team file take no change: a directory is in its place."""
    file, aside = team.directory / "team.json", team.directory / "aside"
    file.rename(aside)
    file.mkdir()
    try:
        yield
    finally:
        file.rmdir()
        aside.rename(file)


async def test_a_worker_that_could_not_be_noted_is_not_waited_for(
    tmp_path: Path, fresh_home: Path
) -> None:
    turns = [
        lead(spawn("w", "Make.", "Read")),
        lead(Text("It could not begin.")),
        lead(spawn("w", "Make.", "Read"), prompt="Try again"),
        DONE,
    ]
    async with team_of(tmp_path, fresh_home, turns) as team:
        leader = await team.lead()
        with unwritable(team):
            [result] = results(await run(leader, "Please do it."))
        assert result.is_error
        assert "cannot be written" in result.text
        assert leader_of(leader).staff.members == ()
        # The name is free again.
        [result] = results(await run(leader, "Try again, please do it."))
        assert not result.is_error


async def test_a_worker_that_could_not_be_asked_is_not_waited_for(
    tmp_path: Path, fresh_home: Path
) -> None:
    send = ToolCall("SendMessage", {"to": "w", "message": "More."})
    turns = [lead(spawn("w", "Make.", "Read")), lead(send, prompt="Ask it"), DONE]
    async with team_of(tmp_path, fresh_home, turns) as team:
        leader = await team.lead()
        await run(leader, "Please do it.")
        with unwritable(team):
            [result] = results(await run(leader, "Ask it."))
        assert "Nothing was sent." in result.text
        assert [one.status for one in leader_of(leader).staff.members] == ["idle"]


async def test_reports_and_stops_count_where_they_cannot_be_noted(
    tmp_path: Path, fresh_home: Path
) -> None:
    ask = ToolCall("Bash", {"command": "touch made"})
    turns = [
        lead(spawn("one", "Make one.", "Bash"), spawn("two", "Make two.", "Bash")),
        worker("Bash", ask),
        worker("Bash", ask),
        worker("Bash", Text("Made."), times=0),
    ]
    async with team_of(tmp_path, fresh_home, turns) as team:
        first = asyncio.get_running_loop().create_future()
        team.person.answers = [first, None]
        leader = await team.lead()
        team_leader = leader_of(leader)
        running = asyncio.ensure_future(run(leader, "Please do it."))
        await team.person.was_asked.wait()
        team.person.was_asked.clear()
        with unwritable(team):
            first.set_result(yes())
            await team.person.was_asked.wait()
            while len(team_leader.staff.working) == 2:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.01)
            [last] = team_leader.staff.working
            await team_leader.dismiss(last.name)
            await running
        said = [e.message.text for e in running.result() if isinstance(e, MessageCommitted)]
        assert said[-1] == ANSWER
        assert sorted(one.status for one in team_leader.staff.members) == ["idle", "stopped"]
        assert any("cannot be written" in text for text in team.notices)
