"""Workers of a team as a user meets them: what they do, what they may, where they end."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.abort import AbortSignal
from agent.assembly.assemble import Assembled
from agent.commands.command_results import LeadTeam, ShowText
from agent.events import MessageCommitted
from agent.headless.output_lines import message_line
from agent.model.scripted.scenario import Text, ToolCall
from agent.teams.leader import TeamLeader
from agent.teams.seat import LeaderSeat
from agent.tools.services import PlanAnswer, Question
from permissions.decision import Decision
from tests.journeys.conftest import results, yes
from tests.journeys.test_teams import COUNTS, MAKES, TWO, lead, run, team_of, worker


class LimitUser:
    """Answers what is asked at a limit, each time the same."""

    def __init__(self, answer: str) -> None:
        self.asked: list[str] = []
        self._answer = answer

    async def ask(self, questions: Sequence[Question], abort: AbortSignal) -> dict[str, str] | None:
        self.asked += [one.question for one in questions]
        return {one.question: self._answer for one in questions}

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        raise AssertionError(plan)

    async def decide_host(self, request: Any) -> Any:
        raise AssertionError(request)

    async def decide_refusal(self, request: Any) -> Any:
        raise AssertionError(request)


def leader_of(assembled: Assembled) -> TeamLeader:
    assert isinstance(assembled.seat, LeaderSeat)
    return assembled.seat.leader


def configure(home: Path, **values: Any) -> None:
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "settings.json").write_text(json.dumps(values))


async def command(assembled: Assembled, text: str) -> object:
    """Run a command of the user and return its result."""
    name, _, arguments = text.removeprefix("/").partition(" ")
    found = assembled.commands.registry.find(name)
    assert found is not None
    return await assembled.commands.run_local(found, arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["in-process", "process"])
async def test_what_workers_do_is_seen_and_their_messages_name_the_call_that_started_them(
    tmp_path: Path, fresh_home: Path, mode: str
) -> None:
    async with team_of(tmp_path, fresh_home, [lead(*TWO), *COUNTS, *MAKES], mode=mode) as team:
        leader = await team.lead()
        events = await run(leader, "Please do it.")

        counter, maker = leader_of(leader).rows()
        assert (counter.id, counter.state, maker.state) == (
            "counter@crew", "completed", "completed",
        )  # fmt: skip
        assert counter.use.tool_count == 1
        assert counter.use.tokens > 0
        assert counter.transcript.is_file()
        calls = [e for e in events if e.type == "tool_dispatch" and e.name == "SpawnTeammate"]
        said = [e for e in events if isinstance(e, MessageCommitted) and e.agent_id == maker.id]
        lines = [message_line(event, "s", None) for event in said]
        assert {line["parent_tool_use_id"] for line in lines} == {calls[1].tool_use_id}
        # What they used is part of what the session used.
        own = sum(row.use.tokens for row in (counter, maker))
        total = leader.conversation.view.costs
        assert total is not None
        models = total.session().models.values()
        assert sum(m.usage.prompt_tokens + m.usage.output_tokens for m in models) > own


async def test_a_worker_that_waits_for_an_answer_needs_the_user(
    tmp_path: Path, fresh_home: Path
) -> None:
    answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
    async with team_of(tmp_path, fresh_home, [lead(TWO[1]), *MAKES]) as team:
        team.person.answers.append(answer)
        leader = await team.lead()
        turn = asyncio.ensure_future(run(leader, "Please do it."))
        await team.person.was_asked.wait()
        [row] = leader_of(leader).rows()
        assert row.state == "asking"
        answer.set_result(yes())
        await turn
        assert leader_of(leader).rows()[0].state == "completed"


async def test_a_worker_has_the_prompt_the_tools_and_the_limits_of_its_kind(
    tmp_path: Path, fresh_home: Path
) -> None:
    (fresh_home / ".agent" / "agents").mkdir(parents=True)
    (fresh_home / ".agent" / "agents" / "reader.md").write_text(
        "---\nname: reader\ndescription: Reads.\ntools: Read, Bash(echo *)\n"
        "permissionMode: bypassPermissions\nmodel: claude-haiku-4-5\n---\n"
        "You read and nothing else."
    )
    started = ToolCall("SpawnTeammate", {"name": "r", "prompt": "Read.", "agent_type": "reader"})
    more = ToolCall("SpawnTeammate", {"name": "x", "prompt": "X.", "agent_type": "flyer"})
    none = ToolCall("SpawnTeammate", {"name": "y", "prompt": "Y.", "agent_type": "general-purpose"})
    turns = [
        lead(started, more, none),
        worker("Read", ToolCall("Bash", {"command": "touch c.txt"}), prompt="Read"),
        worker("Read", Text("I read."), times=0),
    ]
    async with team_of(tmp_path, fresh_home, turns) as team:
        events = await run(await team.lead(), "Please do it.")
        refused = [one.text for one in results(events) if one.is_error]
        assert "There is no agent 'flyer'. There are: reader" in refused[0]
        assert refused[1] == "Name the tools of the subtask: a worker has no others."
        asked = team.requests_of("Read")[0].body
        assert "You read and nothing else." in json.dumps(asked["system"])
        assert "You are r@crew" in json.dumps(asked["system"])
        assert asked["model"] == "claude-haiku-4-5"
        names = {tool["name"] for tool in asked["tools"]}
        assert names == {"Read", "Bash", "SendMessage", "TaskList", "TaskUpdate"}
        assert not (team.project / "c.txt").exists()
        assert team.person.asked == []
        assert "Denied on the way" in json.dumps(team.server.requests[-1].body)


@pytest.mark.parametrize("answer", ["Allow", "Stop"])
async def test_at_a_limit_the_user_is_asked_and_without_a_yes_the_worker_is_stopped_and_named(
    tmp_path: Path, fresh_home: Path, answer: str
) -> None:
    configure(fresh_home, agents={"maxTokensEach": 1})
    user = LimitUser(answer)
    hold = worker("Bash", ToolCall("Bash", {"command": "read -t 600 < gate"}), prompt="Make")
    async with team_of(
        tmp_path, fresh_home, [lead(TWO[1]), hold if answer == "Stop" else MAKES[0], MAKES[1]]
    ) as team:
        os.mkfifo(team.project / "gate")
        team.user = user
        leader = await team.lead()
        await run(leader, "Please do it.")
        assert user.asked[0].startswith("The agent maker@crew has used")
        [row] = leader_of(leader).rows()
        assert row.state == ("completed" if answer == "Allow" else "stopped")
        if answer == "Stop":
            assert "maker@crew failed: limit" in team.notices


async def test_the_number_of_workers_has_a_limit_that_is_asked_about(
    tmp_path: Path, fresh_home: Path
) -> None:
    configure(fresh_home, agents={"maxStarts": 1})
    async with team_of(tmp_path, fresh_home, [lead(*TWO), *COUNTS]) as team:
        team.user = user = LimitUser("Stop")
        events = await run(await team.lead(), "Please do it.")
        [refused] = [one.text for one in results(events) if one.is_error]
        assert refused == "The limit of agents is reached. Continue with the present ones."
        assert user.asked == [
            "1 agents were started in this session, which is the limit. Allow 1 more?"
        ]


async def test_the_user_stops_a_worker_and_it_is_named(tmp_path: Path, fresh_home: Path) -> None:
    async with team_of(tmp_path, fresh_home, [lead(*TWO), *COUNTS, *MAKES]) as team:
        team.person.answers.append(None)
        leader = await team.lead()
        turn = asyncio.ensure_future(run(leader, "Please do it."))
        await team.person.was_asked.wait()
        told = await command(leader, "/team stop maker")
        assert told == ShowText("maker@crew was stopped.")
        await turn
        assert "maker@crew failed: stopped" in team.notices
        assert "before it reported" in json.dumps(team.server.requests[-1].body)


async def test_a_session_begins_to_lead_a_team_and_ends_it(
    tmp_path: Path, fresh_home: Path
) -> None:
    async with team_of(tmp_path, fresh_home, []) as team:
        alone = await team.lead(team=None)
        shown = await command(alone, "/team")
        assert isinstance(shown, ShowText)
        assert "/team start NAME" in shown.text
        started = await command(alone, "/team start crew")
        assert isinstance(started, LeadTeam)
        assert (started.team, started.session_id) == ("crew", None)
        bad = await command(alone, "/team start Crew!")
        assert isinstance(bad, ShowText)
        assert "cannot be the name of a team" in bad.text

        leader = await team.lead()
        taken = await command(alone, "/team start crew")
        assert isinstance(taken, ShowText)
        assert "leader of the team crew is already running" in taken.text
        unknown = await command(leader, "/team tell nobody hello")
        assert isinstance(unknown, ShowText)
        assert "There is no nobody in this team" in unknown.text
        ended = await command(leader, "/team end")
        assert isinstance(ended, LeadTeam)
        assert ended.team == ""
        again = await command(leader, "/team start other")
        assert again == ShowText("This session already leads a team. /team end ends it.", "warning")


async def test_task_hooks_see_a_new_task_and_may_refuse_its_end(
    tmp_path: Path, fresh_home: Path
) -> None:
    log = fresh_home / "created.json"
    refuses = {"type": "command", "command": "echo the tests are red >&2; exit 2"}
    configure(
        fresh_home,
        hooks={
            "TaskCreated": [{"hooks": [{"type": "command", "command": f"cat > {log}"}]}],
            "TaskCompleted": [{"hooks": [refuses]}],
        },
    )
    turns = [
        lead(ToolCall("TaskCreate", {"subject": "Count"})),
        lead(
            ToolCall("TaskUpdate", {"task_id": "1", "status": "completed"}),
            prompt="was added|do it",
        ),
    ]
    async with team_of(tmp_path, fresh_home, turns) as team:
        events = await run(await team.lead(), "Please do it.")
        [refused] = [one.text for one in results(events) if one.is_error]
        assert refused == "The task is not completed: the tests are red"
        seen = json.loads(log.read_text())
        assert (seen["hook_event_name"], seen["task_id"], seen["task_subject"]) == (
            "TaskCreated", "1", "Count",
        )  # fmt: skip
        assert json.loads((team.directory / "tasks.json").read_text())[0]["status"] == "pending"


async def test_a_leader_of_another_team_takes_nothing_of_the_team_before(
    tmp_path: Path, fresh_home: Path
) -> None:
    async with team_of(tmp_path, fresh_home, [lead(TWO[0]), *COUNTS]) as team:
        first = await team.lead()
        await run(first, "Please do it.")
        session = first.conversation.view.session_id
        await first.conversation.aclose()
        second = await team.lead(team="other", resume=session)
        assert leader_of(second).rows() == ()
        assert not leader_of(second).mail.waits()
        await second.conversation.aclose()
        again = await team.lead(resume=session)
        [row] = leader_of(again).rows()
        assert (row.id, row.state) == ("counter@crew", "completed")
        assert row.use.tokens > 0


async def test_what_workers_used_while_there_was_no_leader_is_added_to_the_totals_once(
    tmp_path: Path, fresh_home: Path
) -> None:
    """The team file says what the leaders before have counted: here nothing."""
    async with team_of(tmp_path, fresh_home, [lead(TWO[0]), *COUNTS]) as team:
        first = await team.lead()
        await run(first, "Please do it.")
        session = first.conversation.view.session_id
        total = first.conversation.status.usage
        await first.conversation.aclose()
        file = team.directory / "team.json"
        written = json.loads(file.read_text())
        by_worker = written["members"][0].pop("counted")["output_tokens"]
        file.write_text(json.dumps(written))
        second = await team.lead(resume=session)
        after = second.conversation.status
        assert after.usage.output_tokens == total.output_tokens + by_worker > total.output_tokens
        assert after.cost_usd > first.conversation.status.cost_usd
        await second.conversation.aclose()
        third = await team.lead(resume=session)
        assert third.conversation.status.usage == after.usage
