"""A window that fills, a prefix that stays, instructions that come with a folder."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.commands.builtin import cost as cost_command
from agent.commands.command_results import ShowText
from agent.events import Compacted, Notice, ToolDispatch, UsageUpdate
from agent.model.scripted.faults import Status
from agent.model.scripted.prefix import estimate_tokens
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Scenario,
    Text,
    Thinking,
    ToolCall,
    Turn,
    When,
)
from agent.session.resume import load
from tests.journeys.conftest import Begin, terminal

SUMMARY = "The user wants every commit message in Esperanto. Files were read."
WORKING = Turn((Thinking("hm"), Text("Working. " + "word " * 4_000)), times=0)


async def test_an_early_instruction_survives_an_automatic_compaction(begin: Begin) -> None:
    def respond(request: RecordedRequest) -> Turn | None:
        text = json.dumps(request.body["messages"][-1])
        if "summar" in text.lower() and "<" in text:
            return Turn((Text(SUMMARY),))
        if "which language" in text:
            knows = "Esperanto" in json.dumps(request.body["messages"])
            return Turn((Text("In Esperanto." if knows else "I do not know."),))
        return WORKING

    scenario = Scenario(models=(ModelInfo("claude-opus-5-5", max_input_tokens=40_000),))
    journey = await begin(scenario=scenario, respond=respond)
    await journey.send("Write every commit message in Esperanto.")
    compacted: list[Compacted] = []
    for _ in range(12):
        events = await journey.send("Go on.")
        compacted += [event for event in events if isinstance(event, Compacted)]
    answer = await journey.send("And which language for commits?")
    assert compacted
    assert all(event.tokens_after < event.tokens_before for event in compacted)
    assert terminal(answer).reason == "completed"
    assert journey.conversation.view.messages[-1].text == "In Esperanto."
    assert "Esperanto" in journey.conversation.view.transcript_path.read_text()


async def test_a_call_in_place_of_a_summary_is_no_summary(begin: Begin) -> None:
    def respond(request: RecordedRequest) -> Turn | None:
        if "about to be compacted" in json.dumps(request.body["messages"][-1]):
            return Turn((Text("Let me look first."), ToolCall("Read", {"file_path": "a.txt"})))
        return WORKING

    journey = await begin(respond=respond)
    for _ in range(3):
        await journey.send("Write every commit message in Esperanto.")
    events = [event async for event in journey.conversation.controls.compact()]
    assert not any(isinstance(event, Compacted) for event in events)
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert any("The model wrote no summary. It stays as it is." in text for text in notices)


SIGNING = ModelInfo("claude-opus-5-5", max_input_tokens=40_000, signed_compaction=True)


def signing(request: RecordedRequest) -> Turn | None:
    if "compaction" in request.body:
        return Turn((Text(SUMMARY),))
    return Turn((Thinking("hm"), Text("Working. " + "word " * 1_200)))


async def test_a_summary_that_the_endpoint_signs_keeps_later_thinking(begin: Begin) -> None:
    journey = await begin(scenario=Scenario(models=(SIGNING,)), respond=signing)
    await journey.send("Write every commit message in Esperanto.")
    compacted: list[Compacted] = []
    while not compacted:
        events = await journey.send("Go on.")
        assert terminal(events).reason == "completed"
        compacted += [event for event in events if isinstance(event, Compacted)]
    assert compacted[0].summary == SUMMARY
    asked = next(r for r in journey.server.requests if "compaction" in r.body)
    assert asked.headers["anthropic-beta"] == "compact-2026-09-04"
    assert "Esperanto" in asked.body["compaction"]["instructions"]
    await journey.send("Go on.")
    last = journey.server.requests[-1]
    assert last.body["messages"][0]["content"][0]["type"] == "compaction"
    assert "compact-2026-09-04" in last.headers["anthropic-beta"]
    kept = [b for m in last.body["messages"] for b in m["content"] if b["type"] == "thinking"]
    assert len(kept) >= 2
    assert last.status == 200
    again = load(journey.conversation.view.transcript_path)
    assert again.messages == journey.conversation.view.messages


async def test_an_endpoint_that_will_not_have_its_summary_back_gets_it_as_text(
    begin: Begin,
) -> None:
    refusal = Status(400, message="compaction: the `signature` does not verify, not supported")
    plan = FaultPlan(refusal, when=When(prompt="and now"))
    scenario = Scenario(models=(SIGNING,), faults=(plan,))
    journey = await begin(scenario=scenario, respond=signing)
    for _ in range(3):
        await journey.send("Go on.")
    events = [event async for event in journey.conversation.controls.compact()]
    assert any(isinstance(event, Compacted) for event in events)
    events = await journey.send("and now")
    assert terminal(events).reason == "completed"
    last = journey.server.requests[-1].body["messages"]
    assert last[0]["content"][0]["type"] == "text"
    assert SUMMARY in last[0]["content"][0]["text"]


async def test_an_endpoint_that_clears_results_is_asked_to(begin: Begin) -> None:
    model = ModelInfo("claude-opus-5-5", clears_tool_results=True)
    journey = await begin(scenario=Scenario(models=(model,), turns=(WORKING,)))
    await journey.send("first")
    await journey.send("second")
    last = journey.server.requests[-1]
    assert last.body["context_management"]["edits"][0]["type"] == "clear_tool_uses_20250919"
    assert last.headers["anthropic-beta"] == "context-management-2025-06-27"


async def test_thinking_stays_where_the_endpoint_would_leave_it_out(begin: Begin) -> None:
    model = ModelInfo("claude-opus-5-5", clears_tool_results=True, clears_thinking=True)
    journey = await begin(scenario=Scenario(models=(model,), turns=(WORKING,)))
    await journey.send("first")
    await journey.send("second")
    edits = journey.server.requests[-1].body["context_management"]["edits"]
    assert edits[0] == {"type": "clear_thinking_20251015", "keep": "all"}
    assert edits[1]["type"] == "clear_tool_uses_20250919"


async def test_an_endpoint_that_refuses_the_prompt_gets_a_shorter_one_once(begin: Begin) -> None:
    refusal = Status(400, message="prompt is too long: 250000 tokens > 200000 maximum")
    scenario = Scenario(
        turns=(WORKING,),
        faults=(FaultPlan(refusal, when=When(prompt="now it is too much")),),
    )
    journey = await begin(scenario=scenario)
    for _ in range(3):
        await journey.send("Go on.")
    events = await journey.send("now it is too much")
    assert [type(event) for event in events if isinstance(event, Compacted)] == [Compacted]
    assert terminal(events).reason == "completed"


@pytest.mark.parametrize("earlier", [1, 2_000], ids=["nothing-to-shorten", "shortened"])
async def test_an_answer_cut_off_by_a_full_window_is_not_sent_as_a_beginning(
    begin: Begin, earlier: int
) -> None:
    full = Turn((Text("half an"),), stop_reason="model_context_window_exceeded")
    turns = [Turn((Text("word " * earlier),)), full]
    journey = await begin([*turns, *(Turn((Text(text),)) for text in (SUMMARY, "whole", "whole"))])
    await journey.send("first")
    events = await journey.send("second")
    assert terminal(events).reason == "completed"
    last = [request.body["messages"][-1]["role"] for request in journey.server.requests]
    assert set(last) == {"user"}


async def test_a_summary_is_retried_when_the_model_is_overloaded(begin: Begin) -> None:
    scenario = Scenario(
        turns=(Turn((Text("one"),)), Turn((Text("word " * 2_000),)), Turn((Text(SUMMARY),))),
        faults=(FaultPlan(Status(529, headers={"retry-after": "0.01"}), request=3),),
    )
    journey = await begin(scenario=scenario)
    await journey.send("first")
    await journey.send("second")
    before = journey.conversation.status.cost_usd
    events = [event async for event in journey.conversation.controls.compact()]
    assert [event.type for event in events if event.type != "notice"] == [
        "retry_scheduled",
        "usage_update",
        "compacted",
    ]
    assert journey.conversation.status.cost_usd > before
    kept = load(journey.conversation.view.transcript_path)
    assert kept.cost_usd == pytest.approx(journey.conversation.status.cost_usd)


async def test_prefixes_are_the_same_bytes_from_request_to_request(
    begin: Begin,
) -> None:
    path = "${cwd}/a.txt"
    turns = [
        Turn((Thinking("let me see"), ToolCall("Read", {"file_path": path}))),
        Turn((Thinking("and now"), ToolCall("Bash", {"command": "echo hi"}))),
        Turn((Thinking(""), Text("Done."))),
        Turn((ToolCall("TodoWrite", {"todos": []}),)),
        Turn((Text("Again."),)),
    ]
    journey = await begin(turns)
    (journey.project / "a.txt").write_text("content\n")
    await journey.send("look")
    journey.conversation.controls.cycle_mode()
    await journey.send("and again")
    bodies = [request.body for request in journey.server.requests]
    assert len(bodies) == len(turns)
    for earlier, later in pairwise(bodies):
        assert _bytes(earlier["tools"]) == _bytes(later["tools"])
        assert _bytes(earlier["system"]) == _bytes(later["system"])
        before, after = _blocks(earlier), _blocks(later)
        assert before == after[: len(before)]


def _bytes(value: Any) -> bytes:
    """Return what the cache compares: marks do not count."""
    if isinstance(value, list):
        return b"".join(map(_bytes, value))
    return json.dumps({k: v for k, v in value.items() if k != "cache_control"}).encode()


def _blocks(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(m["role"], _bytes(b).decode()) for m in body["messages"] for b in m["content"]]


async def test_the_cache_serves_most_of_a_conversation_and_costs_show_it(begin: Begin) -> None:
    journey = await begin([Turn((Text("word " * 50),), times=0)])
    for number in range(8):
        events = await journey.send(f"question {number}")
    update = next(event for event in events if isinstance(event, UsageUpdate))
    assert update.usage.cache_read_tokens > update.usage.prompt_tokens * 0.9
    costs = journey.conversation.view.costs
    assert costs is not None
    (cost,) = costs.session().models.values()
    assert cost.cache_hit_rate > 0.7
    assert cost.responses == 8
    assert costs.session().total_usd == journey.conversation.status.cost_usd
    shown = await cost_command.call("", journey.assembled.commands.context)
    assert isinstance(shown, ShowText)
    assert f"{cost.cache_hit_rate:.0%} of prompts from cache" in shown.text
    assert "all sessions: $" in shown.text


async def test_a_new_session_reads_prompt_and_tools_from_the_cache(begin: Begin) -> None:
    first = await begin([Turn((Text("ok"),), times=0)])
    await first.send("hello")
    second = await begin(server=first.server)
    await second.send("something else")
    one, other = (request.body for request in first.server.requests)
    assert one["system"][0] == other["system"][0]
    usage = first.server.requests[-1].usage
    shared = estimate_tokens(json.dumps([*other["tools"], other["system"][0]]))
    assert int(str(usage["cache_read_input_tokens"])) > 0.95 * shared


async def test_a_round_of_many_calls_still_finds_the_cache(begin: Begin) -> None:
    calls = tuple(ToolCall("Glob", {"pattern": f"*.{number}"}) for number in range(30))
    turns = [Turn(calls), Turn((Text("ok"),))]
    journey = await begin(turns)
    await journey.send("look")
    first, second = (request.usage for request in journey.server.requests)
    assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]


async def test_instructions_of_a_directory_come_with_its_first_file(begin: Begin) -> None:
    turns = [
        Turn((ToolCall("Read", {"file_path": "${cwd}/api/a.py"}),)),
        Turn((ToolCall("Read", {"file_path": "${cwd}/api/b.py"}),)),
        Turn((Text("ok"),)),
    ]
    journey = await begin(turns)
    api = journey.project / "api"
    api.mkdir()
    (api / "CLAUDE.md").write_text("Handlers are async here.")
    (api / "a.py").write_text("a = 1\n")
    (api / "b.py").write_text("b = 1\n")
    await journey.send("look")
    first, second, third = (json.dumps(r.body["messages"]) for r in journey.server.requests)
    assert "Handlers are async" not in first
    assert "Handlers are async" in second
    assert third.count("Handlers are async") == 1


async def test_hooks_are_informed_of_instructions_and_of_a_moved_shell(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    command = {"type": "command", "command": f"cat >> {log}; echo >> {log}"}
    hooks = {name: [{"hooks": [command]}] for name in ("InstructionsLoaded", "CwdChanged")}
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    turns = [
        Turn((ToolCall("Bash", {"command": "cd sub"}),)),
        Turn((ToolCall("Read", {"file_path": "${cwd}/sub/a.txt"}),)),
        Turn((Text("ok"),)),
    ]
    project = tmp_path / "a project"
    (project / "sub").mkdir()
    (project / "AGENTS.md").write_text("Be brief.")
    (project / "sub" / "AGENTS.md").write_text("Be briefer.")
    (project / "sub" / "a.txt").write_text("x\n")
    journey = await begin(turns)
    await journey.send("go")
    await journey.conversation.hooks.firing.aclose(wait_s=60)
    heard = [json.loads(line) for line in log.read_text().splitlines() if line]
    loaded = [h for h in heard if h["hook_event_name"] == "InstructionsLoaded"]
    assert [(Path(h["file_path"]).parent.name, h["load_reason"]) for h in loaded] == [
        ("a project", "session_start"),
        ("sub", "nested_traversal"),
    ]
    assert loaded[1]["trigger_file_path"] == str(project / "sub" / "a.txt")
    (moved,) = (h for h in heard if h["hook_event_name"] == "CwdChanged")
    assert (moved["old_cwd"], moved["new_cwd"]) == (str(project), str(project / "sub"))
    assert loaded[1]["cwd"] == str(project / "sub")


async def test_the_picture_of_the_window_adds_up(begin: Begin) -> None:
    journey = await begin([Turn((ToolCall("Bash", {"command": "echo hi"}),)), Turn((Text("ok"),))])
    await journey.send("hello")
    picture = journey.conversation.view.context_breakdown()
    assert picture.is_measured
    assert picture.used_tokens == sum(part.tokens for part in picture.slices)
    assert abs(picture.used_tokens - journey.conversation.status.context_tokens) <= len(
        picture.slices
    )
    assert {"System prompt", "Tools", "Tool results"} <= {part.name for part in picture.slices}


FILES = 40
FACT = re.compile(r"FACT (\d+) is (\d+)")


def reader(request: RecordedRequest) -> Turn | None:
    """Read files one after another in parts, knowing only what is in the request."""
    messages = request.body["messages"]
    seen = json.dumps(messages)
    facts = {int(number): int(value) for number, value in FACT.findall(seen)}
    known = ". ".join(f"FACT {number} is {value}" for number, value in sorted(facts.items()))
    if "about to be compacted" in json.dumps(messages[-1]):
        return Turn((Text(f"Files are read for their facts. {known}."),))
    calls = [b for b in messages[-2]["content"] if b["type"] == "tool_use"] if messages[1:] else []
    if not calls:
        return Turn((ToolCall("Read", {"file_path": "${cwd}/f1.txt"}),))
    path = calls[0]["input"]["file_path"]
    result = json.dumps(messages[-1])
    number = int(re.findall(r"f(\d+)\.txt$", path)[0])
    found = Text(f"FACT {number} is {facts[number]}. ") if number in facts else Text("Not yet. ")
    if rest := re.search(r"continue with offset=(\d+)", result):
        more = {"file_path": path, "offset": int(rest[1])}
        return Turn((Thinking("hm"), found, ToolCall("Read", more)))
    if number < FILES:
        following = path.replace(f"f{number}.txt", f"f{number + 1}.txt")
        return Turn((Thinking("hm"), found, ToolCall("Read", {"file_path": following})))
    return Turn((Text(f"The sum is {sum(facts.values())}."),))


@pytest.mark.parametrize("window", [32_000, 200_000])
async def test_forty_large_reads_in_one_prompt_end_with_the_right_answer(
    begin: Begin, window: int
) -> None:
    scenario = Scenario(models=(ModelInfo("claude-opus-5-5", max_input_tokens=window),))
    journey = await begin(scenario=scenario, respond=reader, max_turns=1_000)
    for number in range(1, FILES + 1):
        lines = [f"line {line}: " + "word " * 12 for line in range(window // 100)]
        lines[len(lines) * number // (FILES + 1)] = f"FACT {number} is {number * 7}"
        (journey.project / f"f{number}.txt").write_text("\n".join(lines))
    await journey.conversation.controls.set_model(
        "claude-opus-5-5"
    )  # the endpoint's figures are known
    events = await journey.send("Read all files and add up their facts.")
    assert terminal(events).reason == "completed"
    answer = journey.conversation.view.messages[-1].text
    assert answer == f"The sum is {sum(number * 7 for number in range(1, FILES + 1))}."
    requests = [r for r in journey.server.requests if r.status == 200]
    assert [r.status for r in journey.server.requests] == [200] * len(requests)
    calls = [json.dumps(event.input) for event in events if isinstance(event, ToolDispatch)]
    assert len(calls) == len(set(calls)), "something was read twice"
    for request in requests:
        assert "removed to save room" not in json.dumps(request.body["messages"][-1])
    made_room = [event for event in events if isinstance(event, Compacted)]
    assert made_room
    assert made_room[0].means == "shortening"
    assert "tool results shortened (Read f1.txt, " in made_room[0].summary
    removed = [e for e in made_room if "tool calls removed with their results" in e.summary]
    assert bool(removed) == (window == 32_000)
