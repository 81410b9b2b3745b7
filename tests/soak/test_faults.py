"""The fault matrix: every fault of the scripted server at every phase of an answer, seeded.

Each run is one conversation with the real client, the real waits (on a clock that jumps), one or
more faults and sometimes an interrupt. Held: every request is one an endpoint takes, every prompt
ends in one `Terminal`, and the transcript replays to the state in memory.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import get_args

import pytest

from agent.assembly.assemble import UserPorts, assemble, settings_for
from agent.conversation.conversation import Conversation
from agent.events import Terminal
from agent.history import problems
from agent.messages import Message
from agent.model.scripted.faults import (
    Cut,
    Drop,
    Duplicate,
    ErrorFault,
    Fault,
    Insert,
    NoUsage,
    Place,
    Position,
    Stall,
    Status,
    WholeJson,
)
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Pace,
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
from tests.journeys.conftest import ScriptedPerson
from tests.journeys.start import model_at, user_at
from tests.soak.scale import FAULT_RUNS, PARTS
from tests.soak.virtual_time import VirtualLoop, run_virtually

PROMPTS = 3
MAX_EVENTS = 40
EVENTS = (
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
)
RETRY_AFTER = ("0", "2", "0.5", "-5", "1e999", "999999999", "Wed, 21 Oct 2015 07:28:00 GMT",
               "Fri, 01 Jan 2100 00:00:00 GMT", "soon", "")  # fmt: skip
STATUSES: tuple[Status, ...] = (
    *(Status(status) for status in (408, 409, 500, 502, 503, 504, 529)),
    *(Status(429, headers={"retry-after": after}) for after in RETRY_AFTER),
    *(Status(529, headers={"retry-after": after}) for after in RETRY_AFTER),
    Status(502, body="<html>Bad gateway</html>", content_type="text/html"),
    Status(200, body="<html>Log in</html>", content_type="text/html"),
    Status(401),
    Status(403),
    Status(404, error_type="not_found_error", message="model: claude-opus-5-5"),
    Status(413),
    Status(400, message="prompt is too long: 210000 tokens > 200000 maximum"),
    Status(400, message="`max_tokens` exceed context limit: 190000 + 32000 > 200000"),
    Status(400, message="the prompt does not fit the context window"),
    Status(400, message="max_tokens: 32000 > 8192, which is the maximum allowed"),
    Status(400, message="cache_control: Extra inputs are not permitted"),
    Status(400, message="context_management: Extra inputs are not permitted"),
    Status(400, message="compaction: Extra inputs are not permitted"),
    Status(400, error_code="compaction_signature_invalid", message="the signature is not valid"),
    Status(429, error_code="enforced_spend_limit_reached", message="spent"),
)  # fmt: skip
NOISE = (
    b'event: future_event\ndata: {"type": "future_event", "value": 1}\n\n',
    b"event: content_block_delta\ndata: {not json\n\n",
    b"event: content_block_delta\ndata: []\n\n",
    b"\xff\xfe\n\n",
    b"event: ping\ndata: {}\n\n" * 50,
    b": only a comment\n\n",
    b'event: content_block_start\ndata: {"type":"content_block_start"}\n\n',
)


def _place(rng: random.Random) -> Position:
    place = rng.choice(get_args(Place))
    number = rng.randrange(12) if place == "event" else rng.randrange(3_000)
    return Position(place, number if place in {"event", "byte"} else 0)


def _fault(rng: random.Random) -> Fault:
    match rng.randrange(10):
        case 0 | 1:
            return rng.choice(STATUSES)
        case 2 | 3:
            return Cut(_place(rng), rng.choice(["reset", "close", "end"]))
        case 4:
            return Stall(_place(rng), seconds=rng.choice([None, 0.5, 60.0, 400.0]))
        case 5:
            kinds = ["overloaded_error", "api_error", "rate_limit_error", "invalid_request_error"]
            return ErrorFault(_place(rng), rng.choice(kinds))
        case 6:
            return Insert(_place(rng), rng.choice(NOISE))
        case 7:
            return Drop(rng.choice(EVENTS), rng.randrange(3))
        case 8:
            return Duplicate(rng.choice(EVENTS), rng.randrange(3))
        case _:
            return NoUsage() if rng.random() < 0.5 else WholeJson()


def _turn(rng: random.Random) -> Turn:
    todo = {"content": f"step {rng.randrange(9)}", "status": "pending", "activeForm": "Stepping"}
    calls: list[Part] = [
        ToolCall("Read", {"file_path": "${cwd}/a.txt"}),
        ToolCall("TodoWrite", {"todos": [todo]}),
        ToolCall("Write", {"file_path": "${cwd}/new.txt", "content": "new\n"}),
        ToolCall("Nothing", {"a": 1}),
        ToolCall("Read", input_json="{broken"),
    ]
    parts: list[Part] = []
    if rng.random() < 0.6:
        parts.append(Thinking(rng.choice(["", "I think about it for a while."])))
    if rng.random() < 0.7:
        parts.append(Text(rng.choice(["Short.", "A longer answer with äöü and 漢字. " * 8])))
    parts += rng.sample(calls, rng.choice([0, 0, 1, 1, 2]))
    stop = rng.choice([None] * 8 + ["max_tokens", "pause_turn", "refusal"])
    return Turn(tuple(parts or [Text("Yes.")]), stop_reason=stop)


def _scenario(rng: random.Random) -> Scenario:
    plans = tuple(
        FaultPlan(_fault(rng), request=rng.randint(1, 6), times=1)
        if rng.random() < 0.7
        else FaultPlan(_fault(rng), times=rng.choice([1, 2, 4, 15]))
        for _ in range(rng.randint(1, 3))
    )
    return Scenario(
        turns=tuple(_turn(rng) for _ in range(rng.randint(2, 6))),
        otherwise=Turn((Text("Nothing more."),), times=0),
        faults=plans,
        # What the endpoint can do by itself differs.
        models=(
            ModelInfo(
                "claude-opus-5-5",
                signed_compaction=rng.random() < 0.5,
                clears_tool_results=rng.random() < 0.5,
                clears_thinking=True,
            ),
        ),
        pace=Pace(chunk_bytes=rng.choice([0, 0, 1, 7, 64, -1])),
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_fault_breaks_a_conversation(part: int, tmp_path: Path) -> None:
    for number in range(part, FAULT_RUNS, PARTS):
        directory = tmp_path / str(number)
        directory.mkdir()
        try:
            run_virtually(lambda loop, f=directory, n=number: _run(loop, f, n))  # type: ignore[misc]
        except BaseException as error:
            error.add_note(f"fault run {number}")
            raise


async def _run(loop: VirtualLoop, directory: Path, seed: int) -> None:
    rng = random.Random(seed)
    project = directory / "project"
    project.mkdir()
    (project / "a.txt").write_text("x\n")
    scenario = _scenario(rng)
    async with ScriptedServer(scenario, variables={"cwd": str(project)}, clock=loop.time) as server:
        conversation = await _conversation(loop, directory, project, server, rng)
        try:
            for _ in range(PROMPTS):
                await _prompt(conversation, rng.choice([None, None, rng.randrange(MAX_EVENTS)]))
                if rng.random() < 0.3:
                    await _compact(conversation, rng.choice([None, None, rng.randrange(4)]))
            _check_requests(server.requests, scenario)
            state = _state(conversation)
        finally:
            await conversation.aclose()
    again = load(conversation.view.transcript_path)
    assert _replayed(again.messages) == state[0]
    assert (again.usage, again.todos) == state[1:]
    assert again.cost_usd == pytest.approx(conversation.status.cost_usd)


async def _conversation(
    loop: VirtualLoop, directory: Path, project: Path, server: ScriptedServer, rng: random.Random
) -> Conversation:
    environment = user_at(directory, project)
    options = RunOptions(max_turns=8)
    setup = model_at(
        server.base_url,
        small_model=None,
        fallback_models=rng.choice([(), ("claude-sonnet-5-5",)]),
    )
    settings = settings_for(options, environment)
    assembled = await assemble(
        options, environment, settings, setup, UserPorts(dialog=ScriptedPerson())
    )
    recovery = assembled.conversation.recovery
    recovery.monotonic = loop.time
    recovery.rng = random.Random(rng.random())
    return assembled.conversation


async def _prompt(conversation: Conversation, abort_at: int | None) -> None:
    ends: list[Terminal] = []
    seen = 0
    async for event in conversation.run(Prompt("go on")):
        assert not ends, f"{event} after Terminal"
        if seen == abort_at:
            # A moment later, so that it also meets streams and waits that are silent just then.
            asyncio.get_running_loop().call_later(0.01, conversation.controls.interrupt)
        seen += 1
        if isinstance(event, Terminal) and event.agent_id is None:
            ends.append(event)
    assert len(ends) == 1
    assert not ends[0].detail.startswith(("Type", "Key", "Assert", "Attribute")), ends


async def _compact(conversation: Conversation, abort_at: int | None) -> None:
    seen = 0
    async for _ in conversation.controls.compact():
        if seen == abort_at:
            asyncio.get_running_loop().call_later(0.01, conversation.controls.interrupt)
        seen += 1


def _check_requests(requests: list[RecordedRequest], scenario: Scenario) -> None:
    rejected = [r for r in requests if r.problem]
    # Whether a model that takes over has summaries back only its rejection can tell.
    untold = [r for r in rejected if "unknown block type `compaction`" in r.problem]
    assert len(untold) <= PROMPTS
    rejected = [r for r in rejected if r not in untold]
    if any(isinstance(plan.fault, Drop | Duplicate | Insert) for plan in scenario.faults):
        # A stream may lose a piece of what its signature covers, or of a turn that is paused; that
        # can only be told by the rejection, and must not happen twice.
        known = ("Invalid `signature`", "end with a user message")
        for words in known:
            assert sum(words in r.problem for r in rejected) <= 1, [r.problem for r in rejected]
        rejected = [r for r in rejected if not any(words in r.problem for words in known)]
    assert [(r.number, r.problem) for r in rejected] == []
    for request in requests:
        found = problems(
            [Message(m["role"], tuple(m["content"]), "person") for m in request.body["messages"]]
        )
        assert [p for p in found if p != "the last message is not the user's"] == []


def _state(conversation: Conversation) -> tuple[object, object, object]:
    return _replayed(conversation.view.messages), conversation.status.usage, conversation.view.todos


def _replayed(messages: tuple[Message, ...]) -> list[tuple[str, str, tuple[object, ...]]]:
    return [(m.uid, m.role, m.content) for m in messages]
