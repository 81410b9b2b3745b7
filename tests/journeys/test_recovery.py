"""Overload, refused keys, servers that take less, clocks that jump: what is done, and said."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.events import ErrorEvent, ModelFallback, Notice, RetryScheduled, UsageUpdate
from agent.model.scripted.faults import Position, Stall, Status
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from agent.recovery.breaker import COOLDOWN_S
from agent.recovery.retry import HEARTBEAT_S, PERSISTENT_LIMIT_S
from agent.recovery.retry_after import MAX_RETRY_AFTER_S
from tests.journeys.conftest import Begin, Journey, journeys, terminal
from tests.journeys.program import environment, run
from tests.soak.virtual_time import VirtualLoop, run_virtually

OPUS, SONNET, HAIKU = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"
NOW = Status(529, headers={"retry-after": "0"})
LOOK = Turn((ToolCall("TodoWrite", {"todos": []}),))
DONE = Turn((Text("Done."),))


Test = Callable[[Begin], Awaitable[None]]


def without_waiting(test: Test) -> Callable[[Path, Path], None]:
    """Run a test on a clock that jumps over its waits."""

    def run_test(tmp_path: Path, fresh_home: Path) -> None:
        async def main(_loop: VirtualLoop) -> None:
            async with journeys(tmp_path, fresh_home) as begin:
                await test(begin)

        run_virtually(main)

    return run_test


def _on_loop_time(journey: Journey) -> None:
    recovery = journey.conversation.recovery
    recovery.monotonic = asyncio.get_running_loop().time
    recovery.rng = random.Random(1)


@without_waiting
async def test_overload_falls_back_for_the_rest_of_the_prompt(begin: Begin) -> None:
    scenario = Scenario(
        turns=(LOOK, DONE, Turn((Text("Opus again."),))),
        faults=(FaultPlan(NOW, when=When(model=OPUS), times=3),),
    )
    journey = await begin(scenario=scenario)
    journey.conversation.recovery.fallback_models = (SONNET,)
    _on_loop_time(journey)
    events = await journey.send("go")
    (switch,) = (event for event in events if isinstance(event, ModelFallback))
    assert (switch.from_model, switch.to_model) == (OPUS, SONNET)
    assert terminal(events).reason == "completed"
    await journey.send("more")
    models = [request.body["model"] for request in journey.server.requests]
    assert models == [OPUS, OPUS, OPUS, SONNET, SONNET, OPUS]


@without_waiting
async def test_models_take_over_in_order(begin: Begin) -> None:
    busy = (FaultPlan(NOW, when=When(model=model), times=0) for model in (OPUS, SONNET))
    journey = await begin(scenario=Scenario(turns=(LOOK, DONE), faults=tuple(busy)))
    journey.conversation.recovery.fallback_models = (OPUS, SONNET, HAIKU)
    _on_loop_time(journey)
    events = await journey.send("go")
    assert [event.to_model for event in events if isinstance(event, ModelFallback)] == [
        SONNET, HAIKU,
    ]  # fmt: skip
    models = [request.body["model"] for request in journey.server.requests]
    assert models == [*[OPUS] * 3, *[SONNET] * 3, HAIKU, HAIKU]


DOWN = Status(500, headers={"retry-after-ms": "1"})


@without_waiting
async def test_a_server_that_is_up_again_answers_at_once(begin: Begin) -> None:
    down = FaultPlan(DOWN, times=34)
    journey = await begin(scenario=Scenario(turns=(DONE,), faults=(down,)))
    _on_loop_time(journey)
    for _ in range(3):
        assert terminal(await journey.send("down")).reason == "error"
    asked = len(journey.server.requests)
    events = await journey.send("down")
    assert terminal(events).reason == "error"
    assert len(journey.server.requests) == asked + 1
    assert not [event for event in events if isinstance(event, RetryScheduled)]
    events = await journey.send("up again")
    assert terminal(events).reason == "completed"
    assert len(journey.server.requests) == asked + 2
    assert not [event for event in events if isinstance(event, RetryScheduled)]


@without_waiting
async def test_a_model_that_is_down_is_not_asked_while_another_helps_out(begin: Begin) -> None:
    down = FaultPlan(DOWN, when=When(model=OPUS), times=33)
    turns = (Turn((Text("Done."),), times=0),)
    journey = await begin(scenario=Scenario(turns=turns, faults=(down,)))
    journey.conversation.recovery.fallback_models = (SONNET,)
    _on_loop_time(journey)
    for _ in range(3):
        assert terminal(await journey.send("go")).reason == "completed"
    asked = len(journey.server.requests)
    events = await journey.send("go")
    (switch,) = (event for event in events if isinstance(event, ModelFallback))
    assert "The last requests failed" in switch.reason
    assert [r.body["model"] for r in journey.server.requests[asked:]] == [SONNET]
    await asyncio.sleep(COOLDOWN_S)
    await journey.send("go")
    assert [r.body["model"] for r in journey.server.requests[asked + 1 :]] == [OPUS]


@without_waiting
async def test_a_wait_of_hours_ends_the_turn_and_names_the_time(begin: Begin) -> None:
    limit = Status(429, headers={"retry-after": "7800"})
    journey = await begin(scenario=Scenario(turns=(DONE,), faults=(FaultPlan(limit, times=0),)))
    _on_loop_time(journey)
    events = await journey.send("go")
    assert terminal(events).reason == "error"
    assert len(journey.server.requests) == 1
    (error,) = (event for event in events if isinstance(event, ErrorEvent))
    assert "(2 h 10 min)" in error.message


@without_waiting
async def test_an_overload_without_another_model_is_waited_out_in_sight(begin: Begin) -> None:
    journey = await begin(
        scenario=Scenario(turns=(DONE,), faults=(FaultPlan(Status(529), times=6),))
    )
    _on_loop_time(journey)
    events = await journey.send("go")
    waits = [event for event in events if isinstance(event, RetryScheduled)]
    assert [wait.attempt for wait in waits] == [2, 3, 4, 5, 6, 7]
    assert [wait.delay_s for wait in waits] == sorted(wait.delay_s for wait in waits)
    assert all("overloaded" in wait.reason for wait in waits)
    assert terminal(events).reason == "completed"


@without_waiting
async def test_esc_ends_a_wait_of_minutes(begin: Begin) -> None:
    slow = Status(429, headers={"retry-after": "250"})
    journey = await begin(scenario=Scenario(turns=(DONE,), faults=(FaultPlan(slow, times=0),)))
    _on_loop_time(journey)
    loop = asyncio.get_running_loop()
    started = loop.time()

    def on_event(event: object) -> None:
        if isinstance(event, RetryScheduled):
            loop.call_later(3, journey.conversation.controls.interrupt)

    events = await journey.send("go", on_event)
    assert terminal(events).reason == "aborted_streaming"
    assert loop.time() - started < 10


@without_waiting
async def test_an_unattended_run_tries_for_hours_with_signs_of_life(begin: Begin) -> None:
    slow = Status(529, headers={"retry-after": "900"})
    journey = await begin(
        scenario=Scenario(turns=(DONE,), faults=(FaultPlan(slow, times=0),)),
        env={"AGENT_TUI_PERSISTENT_RETRY": "1"},
    )
    _on_loop_time(journey)
    loop = asyncio.get_running_loop()
    started = loop.time()
    beats: list[float] = []

    def on_event(event: object) -> None:
        if isinstance(event, RetryScheduled):
            beats.append(loop.time())

    events = await journey.send("go", on_event)
    assert terminal(events).reason == "error"
    assert PERSISTENT_LIMIT_S <= loop.time() - started < PERSISTENT_LIMIT_S + 60
    assert max(b - a for a, b in pairwise(beats)) <= HEARTBEAT_S + 5
    assert all(w.max_attempts is None for w in events if isinstance(w, RetryScheduled))


@without_waiting
async def test_a_wall_clock_that_jumps_makes_no_wait_longer_than_allowed(begin: Begin) -> None:
    date = datetime(2026, 6, 1, tzinfo=UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    asked = Status(429, headers={"retry-after": date})
    journey = await begin(scenario=Scenario(turns=(DONE,), faults=(FaultPlan(asked, times=4),)))
    _on_loop_time(journey)
    clock = iter([0.0, 4e9, 1.7e9, -1e9])
    journey.conversation.recovery.wall_clock = lambda: next(clock)
    events = await journey.send("go")
    waits = [event.delay_s for event in events if isinstance(event, RetryScheduled)]
    assert waits
    assert max(waits) <= MAX_RETRY_AFTER_S
    assert terminal(events).reason == "completed"


@without_waiting
async def test_a_machine_that_slept_finds_its_stream_dead_and_continues(begin: Begin) -> None:
    scenario = Scenario(
        turns=(Turn((Text("A whole answer."),), times=2),),
        faults=(FaultPlan(Stall(Position("text"), hold="asleep")),),
    )
    journey = await begin(scenario=scenario)
    _on_loop_time(journey)
    events = await journey.send("go")
    (wait,) = (event for event in events if isinstance(event, RetryScheduled))
    assert "90 s" in wait.reason
    assert any(event.type == "tombstone" for event in events)
    assert terminal(events).reason == "completed"
    assert journey.conversation.view.messages[-1].text == "A whole answer."


async def test_a_server_that_takes_less_gets_less_from_then_on(begin: Begin) -> None:
    no_cache = Status(400, message="cache_control: Extra inputs are not permitted")
    scenario = Scenario(
        turns=(LOOK, DONE),
        faults=(FaultPlan(no_cache),),
        count_tokens=False,
        models_endpoint=False,
    )
    journey = await begin(scenario=scenario)
    events = await journey.send("go")
    assert terminal(events).reason == "completed"
    assert ["cache_control" in json.dumps(r.body) for r in journey.server.requests] == [
        True,
        False,
        False,
    ]
    assert any("cache_control" in e.text for e in events if isinstance(e, Notice))


async def test_a_token_budget_keeps_the_model_at_work(begin: Begin, fresh_home: Path) -> None:
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text('{"tokenBudget": 3000}')
    journey = await begin([Turn((Text("word " * 900),), times=0)])
    await journey.send("write a lot")
    spent = journey.conversation.status.usage.output_tokens
    assert spent >= 2_700
    assert len(journey.server.requests) == 3


async def test_a_prompt_that_runs_away_is_reported_once(begin: Begin, fresh_home: Path) -> None:
    (fresh_home / ".agent").mkdir()
    row = {"input": 100_000, "output": 100_000}
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps({"prices": {OPUS: row}}))
    journey = await begin([LOOK, LOOK, DONE])
    events = await journey.send("go")
    told = [e.text for e in events if isinstance(e, Notice) and "has cost" in e.text]
    assert len(told) == 1
    costs = [e.session_cost_usd for e in events if isinstance(e, UsageUpdate)]
    assert costs[-1] > 2


@pytest.mark.parametrize("fits", [True, False])
async def test_a_refused_key_is_read_anew_once(
    fits: bool, tmp_path: Path, fresh_home: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (fresh_home / ".agent").mkdir()
    helper = tmp_path / "helper"
    helper.write_text(
        f"#!/bin/sh\necho >> {tmp_path}/asked\necho key-$(wc -l < {tmp_path}/asked)\n"
    )
    helper.chmod(0o755)
    settings = {"apiKeyHelper": str(helper)}
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
    key = "key-2" if fits else "another"
    async with ScriptedServer(Scenario(turns=(DONE,), api_key=key)) as server:
        env: dict[str, Any] = environment(fresh_home, server.base_url)
        del env["ANTHROPIC_API_KEY"]
        status, out, err = await run("-p", "hi", cwd=project, env=env)
    if fits:
        assert (status, out) == (0, "Done.\n"), err
    else:
        assert (status, out.startswith("API Error: 401")) == (1, True), err
    assert (tmp_path / "asked").read_text().count("\n") == 2


async def test_a_trace_shows_where_the_time_went(tmp_path: Path, fresh_home: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with ScriptedServer(Scenario(turns=(LOOK, DONE))) as server:
        env = environment(fresh_home, server.base_url)
        flags = ("--output-format", "json", "--debug")
        _, out, err = await run("-p", "my secret plan", *flags, cwd=project, env=env)
    session = json.loads(out)["session_id"]
    status, shown, _ = await run("sessions", "trace", session, cwd=project, env=env)
    assert status == 0
    labels = [line.split("  ")[0].strip() or line.split()[0] for line in shown.splitlines()]
    assert len(labels) == 4
    assert "interaction prompt" in shown
    assert "tool TodoWrite" in shown
    assert shown.count(f"llm_request {OPUS}") == 2
    (log,) = (fresh_home / ".agent" / "cache" / "debug").iterdir()
    assert f"Debug log: ~/{log.relative_to(fresh_home)}" in err
    assert '"event": "llm_response"' in log.read_text()
    assert "next request: next_turn" in log.read_text()
    assert "secret" not in log.read_text() + shown


async def test_a_resumed_session_asks_for_no_more_than_an_error_allowed(begin: Begin) -> None:
    message = "max_tokens: 21333 > 8000, which is the maximum allowed number of output tokens"
    refusal = FaultPlan(Status(400, "invalid_request_error", message), request=1)
    first = await begin(
        scenario=Scenario(turns=(Turn((Text("Hi."),), times=0),), faults=(refusal,))
    )
    assert terminal(await first.send("hello")).reason == "completed"
    await first.conversation.aclose()
    session = first.conversation.view.session_id
    second = await begin(resume=session, server=first.server)
    assert terminal(await second.send("again")).reason == "completed"
    asked = [request.body["max_tokens"] for request in first.server.requests]
    assert asked[0] > 8_000
    assert asked[1:] == [8_000, 8_000]
