"""Interrupts while streaming, before tools and during a tool; queued messages; the history after
it."""

from __future__ import annotations

import asyncio
import os

import pytest

from agent.events import (
    AgentEvent,
    MessageCommitted,
    Notice,
    PermissionResolved,
    TextDelta,
    ToolDispatch,
    ToolProgress,
)
from agent.history import open_tool_uses
from agent.model.scripted.faults import Position, Stall, Status
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, Thinking, ToolCall, Turn
from agent.session.resume import load
from agent.user_prompt import Prompt
from tests.journeys.conftest import Begin, results, terminal

HELD = FaultPlan(Stall(Position("text"), hold="talking"), request=1)


async def test_interrupting_the_stream_keeps_what_was_written(begin: Begin) -> None:
    scenario = Scenario(
        turns=(Turn((Thinking("hm"), Text("one two three four five six seven eight nine"))),
               Turn((Text("Yes?"),))),
        faults=(HELD,),
    )  # fmt: skip
    journey = await begin(scenario=scenario)

    def interrupt(event: AgentEvent) -> None:
        if isinstance(event, TextDelta):
            journey.conversation.controls.interrupt()

    events = await journey.send("count", interrupt)
    assert terminal(events).reason == "aborted_streaming"

    again = await journey.send("go on")
    assert terminal(again).reason == "completed"
    roles = [message["role"] for message in journey.last_messages()]
    assert roles == ["user", "assistant", "user"]
    assert "one two" in str(journey.last_messages()[1])
    assert "interrupted" in str(journey.last_messages()[2]).lower()


async def test_interrupting_an_error_that_is_never_finished(begin: Begin) -> None:
    stalled = Stall(Position("headers"), hold="error")
    scenario = Scenario(
        turns=(Turn((Text("Yes?"),)),),
        faults=(FaultPlan(Status(529), request=1), FaultPlan(stalled, request=1)),
    )
    journey = await begin(scenario=scenario)
    sent = asyncio.create_task(journey.send("go"))
    await journey.server.wait_for_hold("error")
    journey.conversation.controls.interrupt()
    assert terminal(await sent).reason == "aborted_streaming"
    assert terminal(await journey.send("go on")).reason == "completed"


async def test_interrupting_during_a_tool_ends_its_processes(begin: Begin) -> None:
    command = "echo started; sleep 600"
    journey = await begin([Turn((ToolCall("Bash", {"command": command}),)), Turn((Text("ok"),))])

    def interrupt(event: AgentEvent) -> None:
        if isinstance(event, ToolProgress) and "started" in event.text:
            journey.conversation.controls.interrupt()

    events = await journey.send("wait", interrupt)

    assert terminal(events).reason == "aborted_tools"
    assert [r.outcome for r in results(events)] == ["interrupted"]
    again = await journey.send("go on")
    assert terminal(again).reason == "completed"


async def test_interrupting_while_the_user_is_asked(begin: Begin) -> None:
    journey = await begin(
        [Turn((ToolCall("Bash", {"command": "touch made"}),)), Turn((Text("ok"),))], answers=[None]
    )
    sending = asyncio.ensure_future(journey.send("make it"))
    await journey.person.was_asked.wait()
    journey.conversation.controls.interrupt()
    events = await sending

    assert terminal(events).reason == "aborted_tools"
    resolved = [event.decision for event in events if isinstance(event, PermissionResolved)]
    assert [decision.source for decision in resolved] == ["user"], "nobody else denied it"
    assert not (journey.project / "made").exists()
    assert terminal(await journey.send("go on")).reason == "completed"


async def test_a_queued_message_is_delivered_after_the_running_tools(begin: Begin) -> None:
    journey = await begin(
        [Turn((ToolCall("Read", {"file_path": "${cwd}/a.txt"}),)), Turn((Text("ok"),))]
    )
    (journey.project / "a.txt").write_text("text\n")

    def queue(event: AgentEvent) -> None:
        if isinstance(event, ToolDispatch):
            journey.conversation.prompt_queue.add(Prompt("and be quick"))

    events = await journey.send("read it", queue)

    assert "and be quick" in str(journey.last_messages()[-1])
    assert journey.conversation.prompt_queue.prompts == ()
    committed = [e.message.text for e in events if isinstance(e, MessageCommitted)]
    assert "and be quick" in committed


async def test_parallel_reads_keep_the_order_of_the_calls(begin: Begin) -> None:
    names = [f"{n}.txt" for n in range(12)]
    calls = tuple(ToolCall("Read", {"file_path": f"${{cwd}}/{name}"}) for name in names)
    journey = await begin([Turn(calls), Turn((Text("ok"),))])
    for name in names:
        (journey.project / name).write_text(f"content of {name}\n")

    await journey.send("read them all")

    blocks = journey.last_messages()[-1]["content"]
    assert [str(b["content"]).count(name) for b, name in zip(blocks, names, strict=True)] == [
        1
    ] * 12


@pytest.mark.parametrize("stop_reason", ["refusal", "pause_turn", "max_tokens", "something_new"])
async def test_every_stop_reason_ends_or_continues_with_a_valid_history(
    begin: Begin, stop_reason: str
) -> None:
    first = Turn((Text("part one"),), stop_reason=stop_reason)
    journey = await begin([first, *(Turn((Text(f"part {n}"),)) for n in range(2, 8))])

    events = await journey.send("say it")

    expected = "refusal" if stop_reason == "refusal" else "completed"
    assert terminal(events).reason == expected
    continued = stop_reason in {"pause_turn", "max_tokens"}
    assert len(journey.server.requests) == (2 if continued else 1)
    assert terminal(await journey.send("and now?")).reason == "completed"


async def test_an_empty_answer_is_reported_as_empty(begin: Begin) -> None:
    journey = await begin([Turn(()), Turn((Text("here"),))])
    events = await journey.send("are you there?")
    assert terminal(events).reason == "completed"
    assert "without any text" in "".join(e.text for e in events if isinstance(e, Notice))
    again = await journey.send("hello?")
    assert not [event for event in again if isinstance(event, Notice)]


async def test_output_limit_is_continued_three_times_in_a_row_at_most(begin: Begin) -> None:
    cut = Turn((Text("more"),), stop_reason="max_tokens", times=0)
    journey = await begin([cut])

    events = await journey.send("write a book")

    assert terminal(events).reason == "completed"
    assert len(journey.server.requests) == 4


async def test_turn_limit_ends_with_all_calls_answered(begin: Begin) -> None:
    journey = await begin([Turn((ToolCall("Glob", {"pattern": "*"}),), times=0)], max_turns=3)
    events = await journey.send("look around for ever")

    assert terminal(events).reason == "max_turns"
    assert terminal(events).turns == 3
    assert len(results(events)) == 3


async def test_the_answer_after_the_last_turn_is_let_through(begin: Begin) -> None:
    look = Turn((ToolCall("Glob", {"pattern": "*"}),))
    journey = await begin([look, Turn((Text("Done."),))], max_turns=1)
    events = await journey.send("look once")
    assert terminal(events).reason == "completed"
    assert len(results(events)) == 1


async def test_closing_while_a_tool_runs_leaves_no_process_and_a_closed_call(begin: Begin) -> None:
    command = "echo $$ > pid; echo started; sleep 600"
    journey = await begin([Turn((ToolCall("Bash", {"command": command}),))])
    events = journey.conversation.run(Prompt("wait"))
    async for event in events:
        if isinstance(event, ToolProgress) and "started" in event.text:
            break
    pid = int((journey.project / "pid").read_text())

    await journey.conversation.aclose()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    resumed = load(journey.conversation.view.transcript_path)
    assert [message.role for message in resumed.messages][-2:] == ["assistant", "user"]
    await events.aclose()


async def test_what_was_received_is_on_disk_when_the_reader_leaves(begin: Begin) -> None:
    calls = tuple(ToolCall("Glob", {"pattern": f"*{n}"}) for n in range(3))
    journey = await begin([Turn(calls, times=0)])
    events = journey.conversation.run(Prompt("look"))
    received: list[str] = []
    async for event in events:
        if isinstance(event, MessageCommitted):
            received.append(event.message.uid)
            recorded = [m.uid for m in load(journey.conversation.view.transcript_path).messages]
            assert event.message.uid in recorded
        if len(received) == 4:
            break
    await events.aclose()

    resumed = load(journey.conversation.view.transcript_path).messages
    assert [message.uid for message in resumed][: len(received)] == received
    assert list(resumed) == list(journey.conversation.view.messages)
    assert not open_tool_uses(resumed)
    assert not journey.conversation.view.is_running
