"""A write outside the working directories, through the whole program."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agent.model.scripted.scenario import Text, ToolCall, Turn
from permissions.decision import GrantChoice
from tests.journeys.conftest import Begin, results, yes

DONE = Turn((Text("Done."),))


def write(path: Path) -> Turn:
    return Turn((ToolCall("Write", {"file_path": str(path), "content": "x"}),))


async def test_a_yes_opens_the_directory_for_one_call(begin: Begin, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "in").mkdir()
    turns = [write(outside / "a"), write(outside / "in" / "b"), DONE]
    journey = await begin(turns, answers=[yes(), yes()])
    events = await journey.send("go")
    assert [result.outcome for result in results(events)] == ["ok", "ok"]
    assert (outside / "a").read_text() == (outside / "in" / "b").read_text() == "x"
    assert journey.assembled.conversation.gate.context.additional_dirs == ()


async def test_a_directory_of_the_session_is_asked_about_once(begin: Begin, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    grant = GrantChoice((), "session", directories=(str(outside),))
    turns = [write(outside / "a"), write(outside / "b"), DONE]
    journey = await begin(
        turns, answers=[replace(yes(), grant=grant)], permission_mode="acceptEdits"
    )
    events = await journey.send("go")
    assert [result.outcome for result in results(events)] == ["ok", "ok"]
    assert (outside / "b").read_text() == "x"


async def test_without_a_user_nothing_is_written(begin: Begin, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    command = Turn((ToolCall("Bash", {"command": f"echo x > '{outside}/b'"}),))
    journey = await begin([write(outside / "a"), command, DONE], has_person=False)
    events = await journey.send("go")
    assert [result.outcome for result in results(events)] == ["denied", "denied"]
    assert list(outside.iterdir()) == []
