"""The server as its client sees it."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import urllib.request
import warnings
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent.messages import tool_result_block, tool_results_message, user_message
from agent.model.anthropic import make_client
from agent.model.client import ModelError, ModelRequest
from agent.model.message_builder import MessageBuilder
from agent.model.scripted.faults import Position, Stall, Status
from agent.model.scripted.process import ScriptedProcess
from agent.model.scripted.scenario import FaultPlan, Pace, Scenario, Text, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from tests.agent.model.conftest import Serve


def says(text: str, **options: object) -> Turn:
    return Turn((Text(text),), **options)  # type: ignore[arg-type]


async def test_turns_are_used_up_in_order_unless_conditions_choose(serve: Serve) -> None:
    stage = await serve(
        Scenario(
            turns=(
                says("special", when=When(prompt="^please")),
                says("first"),
                says("always", times=0),
            ),
        )
    )
    prompts = ("hello", "please", "please", "x")
    answers = [(await stage.ask(user_message(prompt))).message().text for prompt in prompts]
    assert answers == ["first", "special", "always", "always"]


async def test_a_turn_can_follow_another_within_one_conversation(serve: Serve) -> None:
    stage = await serve(
        Scenario(
            turns=(
                says("one", name="one", when=When(after=""), times=0),
                says("two", name="two", when=When(after="one")),
            ),
        )
    )
    prompt = user_message("a")
    first = await stage.ask(prompt)
    elsewhere = await stage.ask(user_message("b"))
    second = await stage.ask(prompt, first.message(), user_message("on"))
    assert elsewhere.message().text == "one"
    assert second.message().text == "two"


async def test_without_an_answer_the_script_reports_it(serve: Serve) -> None:
    stage = await serve(Scenario())
    with pytest.raises(ModelError, match="no answer for request 1"):
        await stage.ask()


async def test_what_is_not_allowed_is_logged_with_the_reason(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(says("x"),)))
    with pytest.raises(ModelError, match="must be non-empty"):
        await stage.ask(user_message(""))
    assert "must be non-empty" in stage.requests[0].problem


async def test_a_held_answer_waits_until_it_is_released(serve: Serve) -> None:
    turn = says("slow", fault=Stall(Position("text"), hold="mid"))
    stage = await serve(Scenario(turns=(turn,)))
    asking = asyncio.ensure_future(stage.ask())
    await stage.server.wait_for_hold("mid")
    assert not asking.done()
    stage.server.release("mid")
    assert (await asking).message().text == "slow"


async def test_faults_strike_by_number_and_turn(serve: Serve) -> None:
    faults = (FaultPlan(Status(500), request=2), FaultPlan(Status(503), turn="last"))
    turns = (says("a"), says("b"), says("c", name="last", times=0))
    stage = await serve(Scenario(turns=turns, faults=faults))
    outcomes: list[object] = []
    for _ in range(5):
        try:
            outcomes.append((await stage.ask()).message().text)
        except ModelError as error:
            outcomes.append(error.status)
    assert outcomes == ["a", 500, "b", 503, "c"]


async def test_variables_and_the_prompt_are_put_in(serve: Serve) -> None:
    stage = await serve(
        Scenario(turns=(says("${prompt} in ${cwd}, ${unknown}"),)), variables={"cwd": "/x"}
    )
    answer = await stage.ask(user_message("work"))
    assert answer.message().text == "work in /x, ${unknown}"


async def test_a_new_server_gives_no_id_that_the_history_has(serve: Serve) -> None:
    calls = Scenario(turns=(Turn((ToolCall("Read"),), times=0),))
    first, second = await serve(calls), await serve(calls)
    prompt = user_message("go")
    answer = await first.ask(prompt)
    (call,) = answer.tool_uses()
    results = tool_results_message([tool_result_block(call.id, "ok")])
    (again,) = (await second.ask(prompt, answer.message(), results)).tool_uses()
    assert again.id != call.id


async def test_pace_takes_the_time_it_says(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(says("word " * 40, pace=Pace(tokens_per_s=400)),)))
    fold = await stage.ask()
    record = stage.requests[0]
    await record.done_event.wait()
    assert record.ended_at - record.started_at >= 0.9 * fold.usage.output_tokens / 400


async def test_the_cache_hits_on_an_appended_history(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(says("ok", times=0),)))
    prompt = user_message("word " * 800)
    first = await stage.ask(prompt)
    second = await stage.ask(prompt, first.message(), user_message("more"))
    assert first.usage.cache_read_tokens == 0
    assert second.usage.cache_read_tokens == first.usage.cache_write_5m_tokens > 500


@pytest.mark.parametrize("turns", range(8))
def test_a_connection_that_is_just_being_accepted_is_closed_too(turns: int) -> None:
    async def serve() -> None:
        server = ScriptedServer(Scenario(turns=()))
        address = urlsplit(await server.start())
        with socket.create_connection((address.hostname, address.port)):
            for _ in range(turns):
                await asyncio.sleep(0)
            await server.aclose()

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        asyncio.run(serve())
        gc.collect()
    assert [str(one.message) for one in said] == []


async def test_it_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text('[otherwise]\nparts = [{ text = "from ${where}" }]\n')
    async with ScriptedProcess(str(scenario), variables={"where": "afar"}) as process:
        client = make_client(base_url=process.base_url, api_key="any")
        fold = MessageBuilder()
        request = ModelRequest("claude-opus-5-5", (), (), [user_message("hi")], 100)
        async for event in client.stream(request):
            fold.feed(event)
        await client.aclose()
    assert fold.message().text == "from afar"


def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    scenario, log = tmp_path / "s.toml", tmp_path / "log"
    scenario.write_text("name = 's'\n")
    command = [sys.executable, "-m", "agent.model.scripted", str(scenario), "--with-parent"]
    with subprocess.Popen(
        [*command, f"--log={log}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        with urllib.request.urlopen(f"{url}/v1/models/any", timeout=10) as answer:
            assert json.load(answer)["id"] == "any"
        process.stdin.close()
        assert process.wait(timeout=10) == 0
    assert json.loads(log.read_text())["path"] == "/v1/models/any"


async def test_a_process_that_does_not_start_gives_the_reason(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text("wrong = 1\n")
    with pytest.raises(OSError, match="unknown key 'wrong'"):
        await ScriptedProcess(str(scenario)).start()


def test_the_process_loads_nothing_heavy() -> None:
    code = (
        "import sys, json; import agent.model.scripted.__main__, agent.model.scripted.demo\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=30)
    loaded = set(json.loads(done.stdout))
    assert not {"anthropic", "httpx2", "pydantic", "agent.messages"} & loaded
