"""Whatever happens, no request carries a history that the endpoint would reject.

Random scripts of answers, tool failures, aborts and faults run through the real client against the
strict scripted server; every request it received is checked again here.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.assembly.assemble import UserPorts, assemble, settings_for
from agent.conversation.conversation import Conversation
from agent.events import MessageCommitted, Terminal
from agent.history import problems
from agent.messages import Message
from agent.model.scripted.faults import Cut, ErrorFault, Fault, Position, Stall, Status
from agent.model.scripted.scenario import (
    FaultPlan,
    Part,
    Scenario,
    Text,
    Thinking,
    ToolCall,
    Turn,
)
from agent.model.scripted.server import ScriptedServer
from agent.options import RunOptions
from agent.session.resume import load
from agent.user_prompt import Prompt
from tests.journeys.conftest import ScriptedPerson, no, yes
from tests.journeys.start import model_at, user_at

CALLS: list[ToolCall] = [
    ToolCall("Read", {"file_path": "${cwd}/a.txt"}),
    ToolCall("Read", {"file_path": "${cwd}/missing.txt"}),
    ToolCall("Read", {}),
    ToolCall("Nothing", {"a": 1}),
    ToolCall("Bash", {"command": "exit 3"}),
    ToolCall("Bash", {"command": "echo hello"}),
    ToolCall("Edit", {"file_path": "${cwd}/a.txt", "old_string": "x", "new_string": "y"}),
    ToolCall("Write", {"file_path": "/etc/passwd", "content": "no"}),
    ToolCall("Glob", input_json="{not json"),
    ToolCall("Glob", input_json=""),
    ToolCall("TodoWrite", {"todos": []}),
]
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, st.sampled_from(["Looking.", "One two three four five.", " "])),
    st.builds(Thinking, st.sampled_from(["", "I think."])),
    st.sampled_from(CALLS),
)
STOPS = st.sampled_from([None] * 6 + ["max_tokens", "pause_turn", "refusal", "novel_reason"])
TURNS = st.builds(
    lambda parts, stop: Turn(tuple(parts), stop_reason=stop), st.lists(PARTS, max_size=4), STOPS
)
PLACES = st.sampled_from(
    ["accept", "headers", "thinking", "text", "tool_input", "between_blocks", "before_stop", "end"]
)
FAULTS: st.SearchStrategy[Fault] = st.one_of(
    st.builds(
        lambda place, how: Cut(Position(place), how),
        PLACES,
        st.sampled_from(["reset", "close", "end"]),
    ),
    st.builds(lambda place: ErrorFault(Position(place)), PLACES),
    st.builds(lambda place: Stall(Position(place), seconds=0.04), PLACES),
    st.sampled_from([Status(429, headers={"retry-after": "0"}), Status(529), Status(500)]),
    st.just(Status(400, message="bad request")),
)
PLANS = st.builds(
    lambda fault, request: FaultPlan(fault, request=request), FAULTS, st.integers(1, 8)
)


@given(
    turns=st.lists(TURNS, min_size=1, max_size=6),
    plans=st.lists(PLANS, max_size=4),
    aborts=st.lists(st.one_of(st.none(), st.integers(0, 25)), min_size=3, max_size=3),
    seed=st.integers(0, 1000),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_request_is_one_that_an_endpoint_takes(
    tmp_path_factory: pytest.TempPathFactory,
    turns: list[Turn],
    plans: list[FaultPlan],
    aborts: list[int | None],
    seed: int,
) -> None:
    directory = tmp_path_factory.mktemp("run")
    asyncio.run(_run(directory, turns, plans, aborts, seed))


async def _run(
    directory: Path, turns: list[Turn], plans: list[FaultPlan], aborts: list[int | None], seed: int
) -> None:
    project = directory / "project"
    project.mkdir()
    (project / "a.txt").write_text("x\n")
    scenario = Scenario(
        turns=tuple(turns),
        otherwise=Turn((Text("Nothing more."),), times=0),
        faults=tuple(plans),
    )
    async with ScriptedServer(scenario, variables={"cwd": str(project)}) as server:
        conversation = await _conversation(directory, project, server, seed)
        try:
            for abort_at in aborts:
                await _prompt(conversation, abort_at)
            for recorded in server.requests:
                _check(recorded.body["messages"])
            path = conversation_path(conversation)
        finally:
            await conversation.aclose()
    resumed = load(path)
    assert not _open_problems(resumed.messages)


async def _conversation(
    directory: Path, project: Path, server: ScriptedServer, seed: int
) -> Conversation:
    environment = user_at(directory, project)
    options = RunOptions(max_turns=6)
    choose = random.Random(seed)
    person = ScriptedPerson([choose.choice([yes(), no("other"), no()]) for _ in range(20)])
    setup = model_at(server.base_url, small_model=None)
    assembled = await assemble(
        options, environment, settings_for(options, environment), setup, UserPorts(dialog=person)
    )
    recovery = assembled.conversation.recovery
    recovery.policy = type(recovery.policy)(max_retries=2)
    recovery.rng = _NoWait()
    return assembled.conversation


class _NoWait(random.Random):
    """A jitter that turns every backoff into no wait at all."""

    def random(self) -> float:
        return -4.0


async def _prompt(conversation: Conversation, abort_at: int | None) -> None:
    seen = 0
    ends = 0
    async for event in conversation.run(Prompt("go on")):
        if seen == abort_at:
            # A moment later, so that it also meets streams that are silent just then.
            asyncio.get_running_loop().call_later(0.01, conversation.controls.interrupt)
        seen += 1
        ends += isinstance(event, Terminal) and event.agent_id is None
        assert not (ends and not isinstance(event, Terminal)), "nothing comes after Terminal"
    assert ends == 1


def _check(wire: list[dict[str, Any]]) -> None:
    messages = [Message(role=m["role"], content=tuple(m["content"]), origin="person") for m in wire]
    found = [p for p in problems(messages) if p != "the last message is not the user's"]
    assert not found, found


def _open_problems(messages: tuple[Message, ...]) -> list[str]:
    if not messages:
        return []
    return [p for p in problems(messages) if p != "the last message is not the user's"]


def conversation_path(conversation: Conversation) -> Path:
    """The transcript's file."""
    path = conversation.view.transcript_path
    assert path is not None
    return path


def test_messages_are_committed_once_each(tmp_path: Path) -> None:
    async def run() -> None:
        project = tmp_path / "project"
        project.mkdir()
        scenario = Scenario(turns=(Turn((CALLS[5],)), Turn((Text("ok"),))))
        async with ScriptedServer(scenario, variables={"cwd": str(project)}) as server:
            conversation = await _conversation(tmp_path, project, server, 0)
            try:
                committed = [
                    event.message.uid
                    async for event in conversation.run(Prompt("hi"))
                    if isinstance(event, MessageCommitted)
                ]
            finally:
                await conversation.aclose()
        assert committed == [message.uid for message in conversation.view.messages]
        assert len(set(committed)) == len(committed)

    asyncio.run(run())
