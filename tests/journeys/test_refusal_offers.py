"""The sandbox refuses a command something: the user widens it, lets it out, or does neither."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agent.commands.headless import run_typed_command
from agent.model.scripted.scenario import Text, ToolCall, Turn
from agent.sandbox.network.host_gate import HostAnswer
from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
from tests.journeys.conftest import Begin, Journey, results
from tests.journeys.test_inside_sandbox import HostUser
from tests.journeys.test_permissions import DONE, bash

INSIDE = json.dumps({"sandbox": {"enabled": True}})


pytestmark = pytest.mark.usefixtures("full_sandbox")


class RefusalUser(HostUser):
    """Answers questions about refusals in order, then no."""

    def __init__(self, *answers: RefusalAnswer) -> None:
        super().__init__(HostAnswer(False))
        self.answers = list(answers)
        self.refusals: list[RefusalRequest] = []

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        self.refusals.append(request)
        return self.answers.pop(0) if self.answers else RefusalAnswer.NO


@pytest.fixture
def outside(fresh_home: Path) -> Path:
    """A directory that is neither the project's nor the session's."""
    directory = fresh_home / "elsewhere"
    directory.mkdir()
    return directory


def script(directory: Path) -> str:
    """A command of which no reader can say where it writes."""
    return f"python3 -c 'import pathlib; pathlib.Path(\"{directory}/made\").write_text(str())'"


async def _result(journey: Journey) -> str:
    await journey.send("go")
    return str([r["content"] for r in journey.last_messages()[-1]["content"]])


async def test_an_opened_directory_is_open_for_the_session(begin: Begin, outside: Path) -> None:
    user = RefusalUser(RefusalAnswer.DIRECTORIES)
    again = f"touch {outside}/second"
    journey = await begin(
        [bash(script(outside)), bash(again), DONE], settings_file=INSIDE, ask=user
    )
    await journey.send("go")
    (asked,) = user.refusals
    assert asked.directories == (str(outside),)
    assert asked.command == script(outside)
    assert (outside / "made").exists()
    assert (outside / "second").exists()
    assert journey.person.asked == []


async def test_it_runs_once_outside_by_the_users_word(begin: Begin, outside: Path) -> None:
    user = RefusalUser(RefusalAnswer.OUTSIDE)
    journey = await begin(
        [bash(script(outside)), bash(script(outside)), DONE], settings_file=INSIDE, ask=user
    )
    await journey.send("go")
    assert (outside / "made").exists()
    assert len(user.refusals) == 2


async def test_no_changes_nothing(begin: Begin, outside: Path) -> None:
    user = RefusalUser()
    journey = await begin([bash(script(outside)), DONE], settings_file=INSIDE, ask=user)
    content = await _result(journey)
    assert "The sandbox refused" in content
    assert not (outside / "made").exists()


async def test_settings_that_keep_commands_inside_offer_no_way_out(
    begin: Begin, outside: Path
) -> None:
    user = RefusalUser()
    kept = json.dumps({"sandbox": {"enabled": True, "allowUnsandboxedCommands": False}})
    journey = await begin([bash(script(outside)), DONE], settings_file=kept, ask=user)
    await journey.send("go")
    assert [one.may_leave for one in user.refusals] == [False]


async def test_a_rule_with_a_wildcard_leads_to_the_same_offer(begin: Begin, outside: Path) -> None:
    user = RefusalUser(RefusalAnswer.DIRECTORIES)
    settings = json.dumps({"permissions": {"allow": ["Bash(./tool *)"]}})
    journey = await begin([bash("./tool x"), DONE], settings_file=settings, ask=user)
    tool = journey.project / "tool"
    tool.write_text(f"#!/bin/sh\ntouch {outside}/made\n")
    tool.chmod(0o755)
    await journey.send("go")
    assert len(user.refusals) == 1
    assert (outside / "made").exists()


@pytest.mark.parametrize("mode", ["plan", "dontAsk"])
async def test_modes_that_ask_nothing_offer_nothing(mode: str, begin: Begin, outside: Path) -> None:
    user = RefusalUser(RefusalAnswer.OUTSIDE)
    journey = await begin(
        [bash(script(outside)), DONE], settings_file=INSIDE, ask=user, permission_mode=mode
    )
    await journey.send("go")
    assert user.refusals == []
    assert not (outside / "made").exists()


async def test_a_command_that_succeeds_in_spite_of_it_leads_to_the_offer_too(
    begin: Begin, fresh_home: Path
) -> None:
    (fresh_home / ".ssh").mkdir()
    (fresh_home / ".ssh" / "id").write_text("private")
    user = RefusalUser(RefusalAnswer.OUTSIDE)
    journey = await begin([bash("ls ~/.ssh"), DONE], settings_file=INSIDE, ask=user)
    content = await _result(journey)
    (asked,) = user.refusals
    assert [(one.kind, one.target) for one in asked.refusals] == [
        ("read", str(fresh_home / ".ssh"))
    ]
    assert "outside the sandbox" in content
    assert "\\nid" in content


async def test_a_search_says_what_the_sandbox_hides(begin: Begin, fresh_home: Path) -> None:
    (fresh_home / ".ssh").mkdir()
    (fresh_home / ".ssh" / "id").write_text("private")
    (fresh_home / "notes").write_text("private")
    home = str(fresh_home)
    calls = (
        ToolCall("Grep", {"pattern": "private", "path": home}),
        ToolCall("Grep", {"pattern": "private", "path": f"{home}/.ssh"}),
        ToolCall("Glob", {"pattern": "*", "path": f"{home}/.ssh"}),
        ToolCall("Grep", {"pattern": "private"}),
    )
    settings = json.dumps({"permissions": {"allow": ["Read"]}})
    journey = await begin([Turn(calls), DONE], settings_file=settings)
    await journey.send("go")
    blocks = journey.last_messages()[-1]["content"]
    *hidden, plain = [str(block["content"]) for block in blocks]
    assert all("sandbox" in text and f"{home}/.ssh" in text for text in hidden), hidden
    assert "notes" in hidden[0]
    assert "sandbox" not in plain


async def test_a_sub_agents_refusal_reaches_the_user(begin: Begin, outside: Path) -> None:
    user = RefusalUser(RefusalAnswer.DIRECTORIES)
    start = ToolCall(
        "Agent",
        {"description": "write", "prompt": "write it", "subagent_type": "general-purpose"},
    )
    turns = [Turn((start,)), bash(script(outside)), Turn((Text("written"),)), DONE]
    journey = await begin(turns, settings_file=INSIDE, ask=user)
    await journey.send("go")
    assert len(user.refusals) == 1
    assert (outside / "made").exists()


async def test_without_a_user_it_is_reported_and_named(begin: Begin, outside: Path) -> None:
    journey = await begin([bash(script(outside)), DONE], settings_file=INSIDE, has_person=False)
    events = await journey.send("go")
    (result,) = results(events)
    assert f"write {outside}/made: outside the working directories" in result.refusal_text


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_a_resume_brings_directories_and_hosts_back(
    begin: Begin, outside: Path, fresh_home: Path
) -> None:
    user = RefusalUser(RefusalAnswer.DIRECTORIES)
    user.answer = HostAnswer(True)
    opened = fresh_home / "opened by a command"
    opened.mkdir()
    # Nothing listens there: what is refused and what is not differ in the proxy's answer.
    reach = "curl -sS -o /dev/null -w '%{http_code}' --noproxy '' http://127.0.0.1:9/"
    commands = (script(outside), reach, f"touch '{opened}/x'")
    first = await begin([bash(*commands), DONE], settings_file=INSIDE, ask=user)
    await run_typed_command(f"/add-dir {opened}", first.assembled.commands)
    await first.send("go")
    assert (len(user.refusals), len(user.asked)) == (1, 1)
    await first.conversation.aclose()
    again = RefusalUser()
    turns = [bash(f"touch {outside}/later", reach, f"touch '{opened}/later'"), DONE]
    second = await begin(
        turns, settings_file=INSIDE, ask=again, resume=first.conversation.view.session_id
    )
    content = await _result(second)
    assert (outside / "later").exists()
    assert (opened / "later").exists()
    assert (again.refusals, again.asked, second.person.asked) == ([], [], [])
    assert "403" not in content


async def test_a_directory_that_became_a_link_is_not_opened_again(
    begin: Begin, outside: Path, fresh_home: Path
) -> None:
    user = RefusalUser(RefusalAnswer.DIRECTORIES)
    first = await begin([bash(script(outside)), DONE], settings_file=INSIDE, ask=user)
    await first.send("go")
    await first.conversation.aclose()
    shutil.rmtree(outside)
    (fresh_home / "private").mkdir()
    outside.symlink_to(fresh_home / "private")
    session_id = first.conversation.view.session_id
    second = await begin([DONE], settings_file=INSIDE, resume=session_id)
    assert second.conversation.gate.context.additional_dirs == ()
