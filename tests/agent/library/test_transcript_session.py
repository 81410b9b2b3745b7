"""A session of the library is one of the program's: each goes on with what the other began."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import Agent, Runner, TranscriptSession
from agent.errors import SessionError
from agent.library.program.coding_agent import CodingAgent
from agent.model.scripted.scenario import Text, Thinking, ToolCall, Turn
from agent.session import resume
from agent.session.store import SessionStore
from tests.agent.library.conftest import Serve
from tests.agent.library.test_runner import add

DONE = Turn((Text("Done."),), times=0)


async def test_the_program_continues_with_a_session_of_the_library(serve: Serve) -> None:
    server = await serve(Turn((Thinking("hm"), ToolCall("add", {"a": 1, "b": 2}))), DONE)
    session = TranscriptSession()
    await Runner.run(Agent("Adder", tools=[add]), "What is 1 + 2?", session=session)
    kinds = [item.get("type") for item in await session.get_items()]
    assert kinds[1:4] == ["reasoning", "function_call", "function_call_output"]
    coding = await CodingAgent().run("And now?", session=session.session_id)
    assert coding.session_id == session.session_id
    sent = server.requests[-1].body["messages"]
    text = str(sent)
    assert "What is 1 + 2?" in text
    # Thinking stays where the same system prompt and tools are behind it, which is not so here.
    assert [b["type"] for b in sent[-4]["content"]] == ["tool_use"]
    assert sent[-3]["content"][0]["content"] == "3"
    assert "And now?" in str(sent[-1])


async def test_the_library_continues_with_a_session_of_the_program(serve: Serve) -> None:
    server = await serve(DONE)
    coding = await CodingAgent().run("Remember the number 7.")
    session = TranscriptSession(coding.session_id)
    await Runner.run(Agent("Other"), "Which number?", session=session)
    assert "Remember the number 7." in str(server.requests[-1].body["messages"])
    again = await CodingAgent().run("Sure?", session=coding.session_id)
    assert again.session_id == coding.session_id
    assert "Which number?" in str(server.requests[-1].body["messages"])


async def test_the_picker_knows_its_first_prompt_and_nothing_is_unfinished(
    serve: Serve, fresh_home: Path, tmp_path: Path
) -> None:
    await serve(DONE)
    session = TranscriptSession()
    await Runner.run(Agent("A"), "hello", session=session)
    info = SessionStore(fresh_home / ".agent").get(session.session_id)
    resumed = resume.load(info.path)
    assert resumed.unfinished_turn is None
    assert resumed.queued_prompts == ()
    assert resumed.notes == ()
    assert [message.text for message in resumed.messages] == ["hello", "Done."]


async def test_items_are_limited_popped_and_cleared(serve: Serve) -> None:
    await serve()
    session = TranscriptSession()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.clear_session()
    await session.add_items([{"role": "user", "content": "a"}])
    await session.add_items([{"role": "assistant", "content": "b"}])
    await session.add_items([{"role": "user", "content": "c"}])
    assert len(await session.get_items()) == 3
    assert [each["content"] for each in await session.get_items(1)] == ["c"]
    assert await session.get_items(0) == []
    assert await session.pop_item() == {"role": "user", "content": "c"}
    assert len(await TranscriptSession(session.session_id).get_items()) == 2
    await session.clear_session()
    assert await session.get_items() == []


async def test_secrets_are_not_written(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, fresh_home: Path
) -> None:
    await serve()
    monkeypatch.setenv("MY_API_TOKEN", "hunter2-hunter2-hunter2")
    session = TranscriptSession()
    await session.add_items([{"role": "user", "content": "use hunter2-hunter2-hunter2"}])
    files = list(fresh_home.rglob(f"{session.session_id}.jsonl"))
    assert len(files) == 1
    assert "hunter2" not in files[0].read_text()


def test_an_id_that_is_a_path_is_refused() -> None:
    with pytest.raises(SessionError):
        TranscriptSession("../x")
