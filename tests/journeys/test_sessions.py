"""Sessions over time: resumed with everything, taken back, renamed, shared by two programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.errors import SessionError
from agent.events import AgentEvent, Notice
from agent.model.scripted.faults import Position, Stall
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, Thinking, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.session import resume
from agent.session.archive.summaries import summarize
from agent.session.record_json import to_json
from agent.session.records import PromptRecord, QueueRecord
from agent.session.store import SessionStore
from agent.user_prompt import Prompt
from permissions.decision import GrantChoice
from permissions.mode import Mode
from tests.journeys.conftest import Begin, terminal
from tests.journeys.program import appeared, environment, run, start

TODO = {"content": "Count", "status": "in_progress", "activeForm": "Counting"}


async def test_a_resume_brings_everything_back(begin: Begin) -> None:
    turns = [
        Turn((Thinking("first"), ToolCall("TodoWrite", {"todos": [TODO]}))),
        Turn((Thinking("second"), Text("Noted."))),
        Turn((Text("Still here."),)),
    ]
    first = await begin(turns)
    await first.send("plan it")
    conversation = first.conversation
    first.assembled.grants.store(GrantChoice(("Bash(make test)",), "session"))
    assert conversation.controls.cycle_mode() is Mode.ACCEPT_EDITS
    conversation.prompt_queue.add(Prompt("then this"))
    conversation.prompt_queue.save_draft("half a thou")
    await conversation.controls.rename("The plan")
    before = (conversation.view.messages, conversation.status.usage, conversation.status.cost_usd)
    await conversation.aclose()

    second = await begin(resume=conversation.view.session_id, server=first.server)
    resumed = second.assembled.resumed_conversation
    again = second.conversation
    assert resumed is not None
    assert resumed.notes == ()
    assert (again.view.messages, again.status.usage, again.status.cost_usd) == before
    assert again.view.costs is not None
    assert again.view.costs.session().total_usd == pytest.approx(before[2])
    assert [todo.content for todo in again.view.todos] == ["Count"]
    assert again.status.mode is Mode.ACCEPT_EDITS
    assert (resumed.queued_prompts, resumed.draft, resumed.title) == (
        ("then this",),
        "half a thou",
        "The plan",
    )
    assert "Bash(make test)" in [rule.text for rule in again.gate.context.rules.rules]
    # The strict server rejects thinking whose past is not the same bytes.
    assert terminal(await second.send("and?")).reason == "completed"
    *_, earlier, later = (request.body for request in first.server.requests)
    assert json.dumps(earlier["system"]) == json.dumps(later["system"])
    thinking = [b for m in later["messages"] for b in m["content"] if b["type"] == "thinking"]
    assert len(thinking) == 2


async def test_a_prompt_that_waited_comes_back_only_until_the_model_has_it(begin: Begin) -> None:
    turns = [Turn((ToolCall("TodoWrite", {"todos": [TODO]}),)), Turn((Text("Noted."),))]
    journey = await begin(turns)
    conversation = journey.conversation
    waiting: list[tuple[str, ...]] = []

    def on_event(event: AgentEvent) -> None:
        if event.type == "tool_dispatch":
            conversation.prompt_queue.add(Prompt("then this"))
            conversation.prompt_queue.add(Prompt("and that"))
        if event.type == "message_committed":
            waiting.append(resume.load(conversation.view.transcript_path).queued_prompts)

    await journey.send("plan it", on_event)
    texts = [message.text for message in conversation.view.messages]
    assert texts[-3:] == ["then this", "and that", "Noted."]
    # After each message from the results on: they are on the disk, one way or the other.
    assert waiting[-4:] == [("then this", "and that"), ("and that",), (), ()]
    conversation.prompt_queue.add(Prompt("later"))
    prompt = conversation.prompt_queue.take_next()
    assert prompt is not None
    async for event in conversation.run(prompt):
        if event.type == "message_committed":
            assert resume.load(conversation.view.transcript_path).queued_prompts == ()
    assert conversation.prompt_queue.take_next() is None


async def test_a_prompt_that_went_back_does_not_come_again(begin: Begin) -> None:
    first = await begin([Turn((Text("Hello."),))])
    await first.send("hi")
    await first.conversation.aclose()
    session = SessionStore(first.environment.agent_home).open(first.conversation.view.session_id)
    for record in (PromptRecord("t", "go"), QueueRecord(("next",))):
        session.transcript.append(to_json(record), sync=True)
    session.close()
    left: tuple[str, ...]
    for left in (("go", "next"), ()):
        again = await begin(resume=session.id, server=first.server)
        resumed = again.assembled.resumed_conversation
        assert resumed is not None
        assert resumed.queued_prompts == left
        again.conversation.forget_queue(resumed.unfinished_turn)
        await again.conversation.aclose()


async def test_states_survive_a_compaction_and_two_resumes(begin: Begin) -> None:
    def respond(request: RecordedRequest) -> Turn | None:
        return Turn((Text("A summary, or an answer. " + "word " * 500),))

    first = await begin(respond=respond)
    for _ in range(3):
        await first.send("go on")
    await first.conversation.controls.rename("Long work")
    first.assembled.grants.store(GrantChoice(("Bash(make test)",), "session"))
    await first.conversation.aclose()
    second = await begin(resume=first.conversation.view.session_id, server=first.server)
    assert [event.type async for event in second.conversation.controls.compact()][-1] == "compacted"
    cost = second.conversation.status.cost_usd
    await second.conversation.aclose()
    third = await begin(resume=first.conversation.view.session_id, server=first.server)
    assert third.assembled.resumed_conversation is not None
    assert third.assembled.resumed_conversation.title == "Long work"
    assert "Bash(make test)" in [rule.text for rule in third.conversation.gate.context.rules.rules]
    assert third.conversation.status.cost_usd == pytest.approx(cost, rel=0.5)
    assert terminal(await third.send("on")).reason == "completed"


async def test_other_tools_at_a_resume_cost_the_thinking_and_nothing_else(begin: Begin) -> None:
    turns = [Turn((Thinking("deep"), Text("Yes."))), Turn((Text("Again."),)), Turn((Text("3"),))]
    first = await begin(turns)
    await first.send("is it so?")
    await first.conversation.aclose()
    # Without a screen there are fewer tools, so the prefix is another one.
    for text in ("Again.", "3"):
        later = await begin(
            resume=first.conversation.view.session_id, server=first.server, has_person=False,
            append_system_prompt="Be brief.",
        )  # fmt: skip
        assert terminal(await later.send("and now?")).reason == "completed"
        assert later.conversation.view.messages[-1].text == text
        await later.conversation.aclose()
    assert "deep" not in json.dumps(first.server.requests[-1].body)


async def test_rewind_undoes_a_bad_edit_and_a_destructive_command(begin: Begin) -> None:
    edit = {"file_path": "${cwd}/a.txt", "old_string": "good", "new_string": "bad"}
    turns = [
        Turn((Text("Hello."),)),
        Turn((ToolCall("Read", {"file_path": "${cwd}/a.txt"}),)),
        Turn((ToolCall("Edit", edit),)),
        Turn((ToolCall("Bash", {"command": "rm b.txt; echo new > c.txt"}),)),
        Turn((Text("Done."),)),
        Turn((Text("Fresh start."),)),
    ]
    journey = await begin(turns)
    directory = journey.project
    (directory / "a.txt").write_text("good\n")
    (directory / "b.txt").write_text("dear\n")
    await journey.send("hello")
    await journey.send("improve it")
    assert _files(directory) == {"a.txt": "bad\n", "c.txt": "new\n"}
    conversation = journey.conversation
    hello, improve = await conversation.rewinding.points()
    assert (hello.text, improve.text) == ("hello", "improve it")

    preview = await conversation.rewinding.preview_files(hello.turn_id)
    assert preview is not None
    assert {(c.path.name, c.action) for c in preview.changes} == {
        ("a.txt", "write"),
        ("b.txt", "write"),
        ("c.txt", "delete"),
    }
    one = await conversation.rewinding.restore_files(improve.turn_id, [directory / "a.txt"])
    assert one is not None
    assert _files(directory) == {"a.txt": "good\n", "c.txt": "new\n"}
    everything = await conversation.rewinding.restore_files(improve.turn_id)
    assert everything is not None
    assert _files(directory) == {"a.txt": "good\n", "b.txt": "dear\n"}
    assert conversation.rewinding.checkpoints is not None
    await conversation.rewinding.checkpoints.restore(everything.redo_id, redo_id="back")
    assert _files(directory) == {"a.txt": "good\n", "c.txt": "new\n"}

    assert await conversation.rewinding.rewind(improve.message_uid) == "improve it"
    assert conversation.status.context_tokens == 0
    await journey.send("something else")
    sent = json.dumps(journey.last_messages())
    assert "improve it" not in sent
    assert "back to their state" in sent
    assert [point.text for point in await conversation.rewinding.points()] == [
        "hello",
        "something else",
    ]


def _files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(directory.iterdir()) if path.is_file()}


async def test_rewind_reaches_behind_a_compaction(begin: Begin) -> None:
    def respond(request: RecordedRequest) -> Turn | None:
        return Turn((Thinking("so"), Text("word " * 300)))

    journey = await begin(respond=respond)
    for text in ("one", "two", "three"):
        await journey.send(text)
    conversation = journey.conversation
    assert [event.type async for event in conversation.controls.compact()][-1] == "compacted"
    points = await conversation.rewinding.points()
    assert [point.is_compacted for point in points] == [True, True, True]
    await conversation.rewinding.rewind(points[1].message_uid)
    await journey.send("two, differently")
    sent = [b["text"] for m in journey.last_messages() for b in m["content"] if "text" in b]
    assert "one" in sent
    assert "two" not in sent
    with pytest.raises(SessionError):
        await conversation.rewinding.rewind(points[2].message_uid)


async def test_a_second_program_on_a_session_works_on_a_copy(
    tmp_path: Path, fresh_home: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    scenario = Scenario(
        turns=(
            Turn((Text("first answer"),)),
            Turn((Text("slow"),)),
            Turn((Text("from the copy"),)),
        ),
        faults=(FaultPlan(Stall(Position("text"), hold="slow"), request=2),),
    )
    async with ScriptedServer(scenario) as server:
        env = environment(fresh_home, server.base_url)
        _, out, _ = await run("-p", "one", "--output-format", "json", cwd=project, env=env)
        session = str(json.loads(out)["session_id"])
        holder = await start("-p", "two", "-r", session, cwd=project, env=env)
        await server.wait_for_hold("slow")
        status, out, err = await run(
            "-p", "three", "-r", session, "--output-format", "json", cwd=project, env=env
        )
        other = json.loads(out)
        server.release("slow")
        held_out, _ = await holder.communicate()
    assert status == 0
    assert other["session_id"] != session
    assert "This is a copy" in err
    assert held_out.decode() == "slow\n"
    store = SessionStore(fresh_home / ".agent")
    texts = {info.id: info.path.read_text() for info in store.list()}
    assert "from the copy" not in texts[session]
    assert "first answer" in texts[other["session_id"]]
    assert summarize(store.get(other["session_id"])).forked_from == session


async def test_a_session_resumes_in_another_terminal_after_a_kill(
    tmp_path: Path, fresh_home: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    turns = (
        Turn((ToolCall("Bash", {"command": "echo once >> effect; sleep 60"}),)),
        Turn((Text("I see."),), times=0),
    )
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        process = await start("-p", "go", "--allow", "Bash,Edit", cwd=project, env=env)
        await appeared(project / "effect")
        process.kill()
        await process.communicate()
        status, out, err = await run(
            "-p", "and?", "-c", "--allow", "Bash,Edit", cwd=project, env=env
        )
    assert (status, out) == (0, "I see.\n")
    assert "outcome unknown" in err
    assert (project / "effect").read_text() == "once\n"
    assert "Outcome unknown" in json.dumps(server.requests[-1].body)


async def test_a_deleted_project_directory_is_reported_and_ends_nothing(begin: Begin) -> None:
    turns: list[Any] = [
        Turn((ToolCall("Bash", {"command": "pwd"}),)),
        Turn((Text("It is gone."),)),
    ]
    journey = await begin(turns)
    journey.project.rmdir()
    events = await journey.send("where are we?")
    assert terminal(events).reason == "completed"


async def test_a_home_that_takes_no_files_is_reported_and_the_work_continues(
    begin: Begin, fresh_home: Path
) -> None:
    # A file in the place of the folder: nobody, not even root, can write below it.
    (fresh_home / ".agent").write_text("in the way")
    turns = [Turn((ToolCall("Bash", {"command": "echo hi"}),)), Turn((Text("ok"),))]
    journey = await begin(turns)
    place = journey.assembled.temporary_home
    assert place is not None
    assert "cannot be stored" in " ".join(journey.assembled.notices)
    assert f"AGENT_TUI_HOME={place} " in " ".join(journey.assembled.notices)
    events = await journey.send("go")
    assert terminal(events).reason == "completed"
    assert not [e for e in events if isinstance(e, Notice) and e.level == "error"]


async def test_sessions_of_every_project_are_searched(tmp_path: Path, fresh_home: Path) -> None:
    async with ScriptedServer(Scenario(turns=(Turn((Text("Ponies, then."),), times=0),))) as server:
        env = environment(fresh_home, server.base_url)
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            await run("-p", f"zebra number {name}", cwd=tmp_path / name, env=env)
    _, out, _ = await run("sessions", "search", "zebra", "numb", cwd=tmp_path, env=env)
    assert sorted(line.rsplit("/", 1)[1] for line in out.splitlines()) == ["one", "two"]
    _, out, _ = await run("sessions", "search", "unicorn", cwd=tmp_path, env=env)
    assert out == "nothing found\n"
