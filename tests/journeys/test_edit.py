"""Edits: approved, denied with a comment, declined, and what the files and the model see of it."""

from __future__ import annotations

import asyncio

import msgspec.structs

from agent.events import PermissionRequested, PermissionResolved, ToolDispatch
from agent.model.scripted.scenario import Text, ToolCall, Turn
from agent.user_prompt import Prompt
from permissions.decision import Decision
from tests.journeys.conftest import Begin, no, results, terminal, yes
from tui.screen_reader.event_lines import EventLines
from tui.text.highlight import Highlighter
from tui.transcript.blocks import ToolCard
from tui.transcript.tool_card import tool_card_rows
from tui.transcript.transcript_model import TranscriptModel

READ = ToolCall("Read", {"file_path": "${cwd}/greet.py"})
EDIT = ToolCall(
    "Edit",
    {"file_path": "${cwd}/greet.py", "old_string": "helo", "new_string": "hello"},
)
DONE = Turn((Text("Done."),))


async def test_an_approved_edit_reaches_the_file(begin: Begin) -> None:
    journey = await begin([Turn((READ,)), Turn((EDIT,)), DONE], answers=[yes()])
    (journey.project / "greet.py").write_text("print('helo')\n")

    events = await journey.send("fix the typo")

    assert (journey.project / "greet.py").read_text() == "print('hello')\n"
    assert terminal(events).reason == "completed"
    assert [e.identifier for e in events if isinstance(e, ToolDispatch)] == [
        "Read greet.py",
        "Edit greet.py",
    ]
    assert [request.tool for request, _ in journey.person.asked] == ["Edit"]


async def test_a_no_with_a_comment_continues_and_informs_the_model(begin: Begin) -> None:
    journey = await begin([Turn((READ,)), Turn((EDIT,)), DONE], answers=[no("use 'hi' instead")])
    (journey.project / "greet.py").write_text("print('helo')\n")

    events = await journey.send("fix the typo")

    assert (journey.project / "greet.py").read_text() == "print('helo')\n"
    assert terminal(events).reason == "completed"
    denied = results(events)[-1]
    assert denied.outcome == "denied"
    assert "use 'hi' instead" in denied.text
    assert "use 'hi' instead" in str(journey.last_messages()[-1])


async def test_a_bare_no_ends_the_turn_with_a_valid_history(begin: Begin) -> None:
    journey = await begin([Turn((READ,)), Turn((EDIT,)), DONE], answers=[no()])
    (journey.project / "greet.py").write_text("print('helo')\n")

    events = await journey.send("fix the typo")
    assert terminal(events).reason == "aborted_tools"
    assert len(journey.server.requests) == 2

    again = await journey.send("then leave it")
    assert terminal(again).reason == "completed"


async def test_a_comment_on_yes_reaches_the_model_with_the_result(begin: Begin) -> None:
    journey = await begin([Turn((READ,)), Turn((EDIT,)), DONE], answers=[yes("and mind the tests")])
    (journey.project / "greet.py").write_text("print('helo')\n")

    await journey.send("fix the typo")

    assert "and mind the tests" in str(journey.last_messages()[-1])


async def test_a_user_who_changes_the_edit_gets_theirs_and_the_model_is_informed(
    begin: Begin,
) -> None:
    mine = msgspec.structs.replace(
        yes(),
        updated_input={
            "file_path": "greet.py",
            "old_string": "print('helo')\n",
            "new_string": "print('hallo')\nprint('bye')\n",
        },
    )
    journey = await begin([Turn((READ,)), Turn((EDIT,)), DONE], answers=[mine])
    (journey.project / "greet.py").write_text("print('helo')\n")

    await journey.send("fix the typo")

    assert (journey.project / "greet.py").read_text() == "print('hallo')\nprint('bye')\n"
    told = str(journey.last_messages()[-1])
    assert "The user changed this call before approving it" in told
    assert "+print('hallo')" in told


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(begin: Begin) -> None:
    journey = await begin([Turn((READ,)), Turn((EDIT,)), DONE], answers=[yes()])
    path = journey.project / "greet.py"
    path.write_text("print('helo')\n")

    def meddle(event: object) -> None:
        if isinstance(event, PermissionResolved):
            path.write_text("print('helo')  # somebody else\n")

    events = await journey.send("fix the typo", meddle)

    assert "somebody else" in path.read_text()
    assert results(events)[-1].is_error


async def test_a_failing_test_is_fixed_in_two_turns(begin: Begin) -> None:
    test = ToolCall("Bash", {"command": "python3 check.py"})
    journey = await begin(
        [
            Turn((test,)),
            Turn((ToolCall("Read", {"file_path": "${cwd}/greet.py"}),)),
            Turn((EDIT,)),
            Turn((test,)),
            DONE,
        ]
    )
    (journey.project / "greet.py").write_text("word = 'helo'\n")
    (journey.project / "check.py").write_text("import greet; assert greet.word == 'hello'\n")

    events = await journey.send("make the check pass")

    outcomes = [(r.name, r.is_error) for r in results(events)]
    assert outcomes == [("Bash", True), ("Read", False), ("Edit", False), ("Bash", False)]


async def test_a_failed_call_has_words_for_users_and_others_for_the_model(begin: Begin) -> None:
    calls = (
        ToolCall("Edit", {**EDIT.input, "old_string": "hallo"}),
        ToolCall("Edit", {"file_path": "${cwd}/greet.py"}),
        ToolCall("Edith", {}),
    )
    journey = await begin([Turn((READ,)), Turn(calls), DONE])
    (journey.project / "greet.py").write_text("print('helo')\n")

    model, lines = TranscriptModel(), EventLines()
    spoken: list[str] = []
    for event in await journey.send("fix the typo"):
        model.apply(event, at_s=0.0)
        spoken += lines.lines(event)

    cards = [block for block in model.blocks if isinstance(block, ToolCard)][1:]
    words = [
        tool_card_rows(card, 99, is_detailed=True, highlighter=Highlighter()) for card in cards
    ]
    assert [[row.text.strip(" └") for row in rows[1:]] for rows in words] == [
        ["greet.py: the text to replace was not found."],
        ["The model called Edit with input that does not fit."],
        ["There is no tool named 'Edith'."],
    ]
    assert "similar to old_string" in str(journey.last_messages()[-1])
    assert "Available tools: " in str(journey.last_messages()[-1])
    assert "result: invalid, greet.py: the text to replace was not found." in spoken
    assert not any("Available tools" in line or "lines of the file" in line for line in spoken)


async def test_an_undone_edit_is_reported_to_the_model_with_its_next_message(begin: Begin) -> None:
    answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
    make = ToolCall("Bash", {"command": "make"})
    turns = [Turn((READ,)), Turn((EDIT,)), Turn((make,)), DONE, DONE]
    journey = await begin(turns, answers=[answer], permission_mode="acceptEdits")
    path = journey.project / "greet.py"
    path.write_text("print('helo')\n")

    edits: list[str] = []
    async for event in journey.conversation.run(Prompt("fix the typo")):
        if isinstance(event, ToolDispatch) and event.name == "Edit":
            edits.append(event.tool_use_id)
        if isinstance(event, PermissionRequested):
            assert path.read_text() == "print('hello')\n"
            result = await journey.conversation.rewinding.undo_edits(edits)
            assert [change.path for change in result.done_changes] == [path]
            answer.set_result(no("leave it"))
    assert path.read_text() == "print('helo')\n"
    note = "The user undid your last change"
    # Of a turn that runs, the next request has it.
    bodies = [str(request.body) for request in journey.server.requests]
    assert [note in body for body in bodies] == [False, False, False, True]

    await journey.send("continue")
    assert str(journey.server.requests[4].body).count(note) == 1
