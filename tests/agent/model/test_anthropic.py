"""The client against the scripted server."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys

import pytest
from msgspec.structs import replace

from agent.messages import tool_result_block, tool_results_message, user_message
from agent.model.anthropic import make_client
from agent.model.client import BlockDelta, ModelError, ModelRequest
from agent.model.endpoint_config import Timeouts
from agent.model.scripted.faults import (
    Cut,
    Drop,
    Duplicate,
    ErrorFault,
    Fault,
    Insert,
    NoUsage,
    Position,
    Stall,
    Status,
    WholeJson,
    parse_position,
)
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Pace,
    RawBlock,
    Scenario,
    Text,
    Thinking,
    ToolCall,
    Turn,
)
from agent.recovery.classify import classify
from tests.agent.model.conftest import Serve

ANSWER = Turn(
    (Thinking("Let me see."), Text("I read it.\nNow."), ToolCall("Read", {"file_path": "/a b"})),
    times=0,
)


def one(*parts: Text | Thinking | ToolCall | RawBlock, **options: object) -> Scenario:
    return Scenario(turns=(Turn(tuple(parts), times=0, **options),))  # type: ignore[arg-type]


def failing(fault: Fault, turn: Turn = ANSWER) -> Scenario:
    return Scenario(turns=(Turn(turn.parts, times=0, fault=fault),))


async def error_of(serve: Serve, fault: Fault, **options: object) -> ModelError:
    stage = await serve(failing(fault), **options)
    with pytest.raises(ModelError) as caught:
        await stage.ask()
    return caught.value


async def test_blocks_come_back_as_received_and_are_accepted_again(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(Turn(ANSWER.parts), Turn((Text("Done."),)))))
    prompt = user_message("look")
    first = await stage.ask(prompt)
    (call,) = first.tool_uses()
    result = tool_results_message([tool_result_block(call.id, "text")])
    second = await stage.ask(prompt, first.message(), result)

    sent = stage.requests[1].body["messages"][1]["content"]
    assert sent == list(first.message().content)
    assert [block["type"] for block in sent] == ["thinking", "text", "tool_use"]
    assert call.input == {"file_path": "/a b"}
    assert first.stop_reason == "tool_use"
    assert second.message().text == "Done."


async def test_thinking_whose_prefix_was_edited_is_rejected(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(ANSWER, ANSWER)))
    first = await stage.ask(user_message("look"))
    (call,) = first.tool_uses()
    result = tool_results_message([tool_result_block(call.id, "text")])
    with pytest.raises(ModelError, match="signature"):
        await stage.ask(user_message("another prompt"), first.message(), result)


@pytest.mark.parametrize("chunk_bytes", [1, 3, 7, 64, -1])
async def test_odd_chunks_change_nothing(serve: Serve, chunk_bytes: int) -> None:
    text = "Grüße 世界 👩‍👩‍👧 \u2028 end"
    stage = await serve(one(Text(text), pace=Pace(chunk_bytes=chunk_bytes)))
    assert (await stage.ask()).message().text == text


async def test_invalid_tool_json_is_kept_apart(serve: Serve) -> None:
    stage = await serve(one(ToolCall("Read", input_json='{"file_path": "/a')))
    fold = await stage.ask()
    (call,) = fold.tool_uses()
    assert call.input == {}
    assert call.invalid_json == '{"file_path": "/a'
    assert fold.message().content[0]["input"] == {}


@pytest.mark.parametrize("raw", ["[1]", '"text"', "null", "{}{}"])
async def test_tool_json_that_is_no_object_is_invalid(serve: Serve, raw: str) -> None:
    stage = await serve(one(ToolCall("Read", input_json=raw)))
    (call,) = (await stage.ask()).tool_uses()
    assert call.invalid_json == raw


async def test_a_tool_call_without_any_delta_has_no_input(serve: Serve) -> None:
    stage = await serve(one(ToolCall("Read", input_json="")))
    (call,) = (await stage.ask()).tool_uses()
    assert (call.input, call.invalid_json) == ({}, None)


async def test_unknown_events_blocks_and_deltas_do_no_harm(serve: Serve) -> None:
    future = RawBlock({"type": "hologram", "depth": 3}, ({"type": "depth_delta", "depth": 4},))
    event = b'event: future_event\ndata: {"type": "future_event", "value": 1}\n\n'
    turn = Turn((future, Text("ok")), fault=Insert(Position("event", 2), event))
    stage = await serve(Scenario(turns=(turn,)))
    fold = await stage.ask()
    assert fold.message().content == (
        {"type": "hologram", "depth": 3},
        {"type": "text", "text": "ok"},
    )


async def test_hidden_thinking_keeps_its_signature(serve: Serve) -> None:
    stage = await serve(one(Thinking("", "abc"), Text("ok")))
    block = (await stage.ask()).message().content[0]
    assert block == {"type": "thinking", "thinking": "", "signature": "abc"}


@pytest.mark.parametrize(
    "stop_reason",
    ["end_turn", "max_tokens", "pause_turn", "model_context_window_exceeded", "tomorrow"],
)
async def test_stop_reasons_are_passed_on(serve: Serve, stop_reason: str) -> None:
    stage = await serve(one(Text("ok"), stop_reason=stop_reason))
    assert (await stage.ask()).stop_reason == stop_reason


async def test_a_refusal_gives_the_reason(serve: Serve) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "No."}
    stage = await serve(one(Text("I can't."), stop_reason="refusal", stop_details=details))
    fold = await stage.ask()
    assert (fold.stop_reason, fold.stop_details) == ("refusal", details)


async def test_later_usage_replaces_earlier(serve: Serve) -> None:
    usage = {"input_tokens": 70, "output_tokens": 9, "cache_read_input_tokens": 5}
    stage = await serve(one(Text("ok"), usage=usage))
    read = (await stage.ask()).usage
    assert (read.input_tokens, read.output_tokens, read.cache_read_tokens) == (70, 9, 5)


async def test_missing_usage_counts_as_nothing(serve: Serve) -> None:
    stage = await serve(failing(NoUsage()))
    fold = await stage.ask()
    assert fold.usage.prompt_tokens == fold.usage.output_tokens == 0


async def test_a_server_that_does_not_stream_is_understood(serve: Serve) -> None:
    stage = await serve(failing(WholeJson()))
    fold = await stage.ask()
    assert fold.message().text == "I read it.\nNow."
    assert fold.complete


async def test_a_repeated_block_end_is_forgiven(serve: Serve) -> None:
    stage = await serve(failing(Duplicate("content_block_stop")))
    assert (await stage.ask()).message().text == "I read it.\nNow."


async def test_a_missing_block_end_is_forgiven(serve: Serve) -> None:
    stage = await serve(failing(Drop("content_block_stop", 1)))
    assert len((await stage.ask()).message().content) == 3


@pytest.mark.parametrize(
    "fault",
    [
        Duplicate("content_block_start"),
        Drop("content_block_start"),
        Insert(Position("event", 3), b"event: content_block_delta\ndata: {broken\n\n"),
        Insert(Position("event", 3), b'event: content_block_delta\ndata: {"index": 0}\n\n'),
        Insert(Position("event", 3), b"data: \xff\xfe\n\n"),
        Status(200, body="<html><title>Sign in</title></html>", content_type="text/html"),
    ],
    ids=["start twice", "no start", "broken JSON", "no delta", "no UTF-8", "web page"],
)
async def test_nonsense_is_malformed(serve: Serve, fault: Fault) -> None:
    assert (await error_of(serve, fault)).kind == "malformed"


async def test_a_web_page_is_named_by_its_title(serve: Serve) -> None:
    page = Status(502, body="<html><title>Bad Gateway</title></html>", content_type="text/html")
    error = await error_of(serve, page)
    assert (error.status, error.kind) == (502, "http_502")
    assert "Bad Gateway" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        '{"type": "error", "error": {"type": ["x"], "message": NaN}}',
        '{"type": 5, "error": {"type": null, "message": {"a": [1]}}}',
        '{"type": "error", "error": {"type": "a\\ud800", "message": "b\\udfff"}}',
        '{"error": "c\\ud800"}',
        "[" * 100_000,
        "[1]",
        "",
    ],
    ids=["number", "object", "half a character", "flat", "deep", "list", "nothing"],
)
async def test_an_error_whatever_it_says_can_be_shown(serve: Serve, body: str) -> None:
    error = await error_of(serve, Status(400, body=body))
    assert error.status == 400
    assert f"{error.kind} {error}".encode()


@pytest.mark.parametrize("how", ["reset", "close", "end"])
@pytest.mark.parametrize(
    "place", ["accept", "headers", "event:1", "thinking", "text", "tool_input", "between_blocks",
              "before_delta", "before_stop"],
)  # fmt: skip
async def test_a_cut_answer_never_looks_whole(serve: Serve, place: str, how: str) -> None:
    error = await error_of(serve, Cut(parse_position(place), how))  # type: ignore[arg-type]
    assert error.kind in ("connection", "cut")


async def test_a_reset_after_any_byte_is_noticed(serve: Serve) -> None:
    whole = await serve(Scenario(turns=(Turn((Text("ab"),), times=0),)))
    events = [event async for event in whole.client.stream(whole.request())]
    assert len(events) > 4
    size = 900
    turns = tuple(
        Turn((Text("ab"),), fault=Cut(Position("byte", at), "reset")) for at in range(0, size, 23)
    )
    stage = await serve(Scenario(turns=turns))
    for _ in turns:
        with pytest.raises(ModelError) as caught:
            await stage.ask()
        assert caught.value.kind in ("connection", "cut")


async def test_silence_in_the_middle_is_a_stall(serve: Serve) -> None:
    error = await error_of(serve, Stall(Position("text")), timeouts=Timeouts(silence_s=0.2))
    assert (error.kind, error.phase) == ("stalled", "stream")


async def test_signs_of_life_alone_do_not_count_for_ever(serve: Serve) -> None:
    ping = Insert(Position("text"), b'event: ping\ndata: {"type": "ping"}\n\n')
    error = await error_of(serve, ping, timeouts=Timeouts(progress_s=-1.0))
    assert error.kind == "stalled"


async def test_two_requests_at_once_share_a_client(serve: Serve) -> None:
    stage = await serve(one(Text("ok")))
    folds = await asyncio.gather(*(stage.ask() for _ in range(4)))
    assert [fold.message().text for fold in folds] == ["ok"] * 4


async def test_silence_before_the_answer_is_a_timeout(serve: Serve) -> None:
    error = await error_of(serve, Stall(Position("accept")), timeouts=Timeouts(silence_s=0.2))
    assert (error.kind, error.phase) == ("timeout", "connect")


@pytest.mark.parametrize("fault", [Stall(Position("headers")), Cut(Position("before_stop"), "end")])
async def test_an_error_whose_body_never_ends_is_the_error(serve: Serve, fault: Fault) -> None:
    scenario = Scenario(faults=(FaultPlan(Status(529)), FaultPlan(fault)))
    stage = await serve(scenario, timeouts=Timeouts(silence_s=0.2))
    with pytest.raises(ModelError) as caught:
        await stage.ask()
    assert (caught.value.status, caught.value.phase) == (529, "headers")


async def test_an_error_inside_the_stream_keeps_its_type(serve: Serve) -> None:
    error = await error_of(serve, ErrorFault(Position("text"), "overloaded_error", "Overloaded"))
    assert (error.kind, error.status, error.phase) == ("overloaded_error", None, "stream")
    assert str(error) == "Overloaded"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
async def test_error_statuses_carry_type_headers_and_id(
    serve: Serve, status: int, kind: str
) -> None:
    error = await error_of(serve, Status(status, headers={"retry-after": "7"}, message="so it is"))
    assert (error.kind, error.status, error.phase) == (kind, status, "headers")
    assert error.headers["retry-after"] == "7"
    assert error.request_id == "req_000001"
    assert str(error) == "so it is"


async def test_the_key_follows_no_redirect(serve: Serve) -> None:
    elsewhere = await serve(Scenario(turns=(Turn((Text("stolen"),)),)))
    fault = Status(307, headers={"location": f"{elsewhere.server.base_url}/v1/messages"}, body="")
    stage = await serve(failing(fault))
    with pytest.raises(ModelError, match="redirects to") as caught:
        await stage.ask()
    assert (caught.value.kind, caught.value.status) == ("redirected", 307)
    assert elsewhere.requests == []
    assert not classify(caught.value).retryable


async def test_an_error_without_a_body_is_named_by_its_status_alone(serve: Serve) -> None:
    error = await error_of(serve, Status(529, body="", content_type="text/plain"))
    assert classify(error).message == "The model is overloaded (HTTP 529)."


async def test_an_error_code_is_more_exact_than_the_type(serve: Serve) -> None:
    error = await error_of(serve, Status(429, error_code="enforced_spend_limit_reached"))
    assert error.kind == "enforced_spend_limit_reached"


async def test_there_is_exactly_one_request_per_stream(serve: Serve) -> None:
    stage = await serve(failing(Status(529, headers={"retry-after": "0"})))
    with pytest.raises(ModelError):
        await stage.ask()
    assert len(stage.requests) == 1


async def test_no_one_there_is_unreachable(unused_tcp_port: int) -> None:
    client = make_client(base_url=f"http://127.0.0.1:{unused_tcp_port}", api_key="key")
    request = ModelRequest("claude-opus-5-5", (), (), [user_message("hi")], 100)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1") as caught:
        _ = [event async for event in client.stream(request)]
    assert caught.value.kind == "unreachable"
    await client.aclose()


async def test_cancelling_closes_the_connection(serve: Serve) -> None:
    stage = await serve(failing(Stall(Position("text"), hold="mid")))
    seen = asyncio.Event()

    async def read() -> None:
        async for event in stage.client.stream(stage.request()):
            if isinstance(event, BlockDelta) and event.delta["type"] == "text_delta":
                seen.set()

    task = asyncio.ensure_future(read())
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await stage.requests[0].done_event.wait()
    assert stage.requests[0].hung_up


async def test_the_next_request_after_a_broken_connection_uses_a_fresh_one(serve: Serve) -> None:
    broken = Turn((Text("half"),), fault=Cut(Position("text"), "reset"))
    stage = await serve(Scenario(turns=(broken, Turn((Text("whole"),)))))
    with pytest.raises(ModelError):
        await stage.ask()
    assert (await stage.ask()).message().text == "whole"


async def test_whole_answers_share_one_connection(serve: Serve) -> None:
    stage = await serve(one(Text("ok")))
    for _ in range(3):
        await stage.ask()
    assert [request.connection for request in stage.requests] == [1, 1, 1]
    assert not any(request.hung_up for request in stage.requests)


async def test_half_a_character_is_neither_sent_nor_received(serve: Serve) -> None:
    stage = await serve(one(Text("lone \ud800, pair \ud83d\ude00")))
    fold = await stage.ask(user_message("file \udc80.txt"))
    assert stage.requests[0].body["messages"][0]["content"][0]["text"] == "file \ufffd.txt"
    assert fold.message().text == "lone \ufffd, pair 😀"


async def test_the_body_asks_for_summaries_effort_and_caching(serve: Serve) -> None:
    stage = await serve(one(Text("ok")))
    await stage.ask(effort="high", betas=("one-2026-01-01", "two-2026-01-01"))
    sent = stage.requests[0]
    assert sent.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert sent.body["output_config"] == {"effort": "high"}
    assert sent.body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert sent.body["stream"] is True
    assert sent.headers["anthropic-beta"] == "one-2026-01-01,two-2026-01-01"
    assert sent.headers["authorization"] == "Bearer key"


async def test_features_that_the_endpoint_rejected_are_left_out(serve: Serve) -> None:
    stage = await serve(one(Text("ok")))
    without = frozenset({"thinking", "effort", "cache_control", "betas"})
    await stage.ask(effort="high", betas=("one-2026-01-01",), without=without)
    sent = stage.requests[0]
    assert not {"thinking", "output_config"} & sent.body.keys()
    assert "cache_control" not in json.dumps(sent.body)
    assert "anthropic-beta" not in sent.headers


async def test_models_of_the_4_5_family_think_with_a_budget(serve: Serve) -> None:
    names = ("claude-sonnet-4-5", "claude-opus-4-5-20251101", "claude-haiku-4-5")
    models = tuple(ModelInfo(name, adaptive_thinking=False) for name in names)
    stage = await serve(replace(one(Text("ok")), models=models))
    for name in names:
        await stage.ask(model=name, max_tokens=8_000)
        sent = stage.requests[-1]
        assert sent.body["thinking"] == {"type": "enabled", "budget_tokens": 4_000}


async def test_a_model_of_unknown_make_gets_a_plain_request(serve: Serve) -> None:
    stage = await serve(one(Text("ok")))
    await stage.ask(model="llama3", effort="high")
    assert set(stage.requests[0].body) == {
        "model", "messages", "max_tokens", "system", "tools", "stream",
    }  # fmt: skip


async def test_an_old_gateway_gets_the_key_in_its_own_header(serve: Serve) -> None:
    scenario = Scenario(turns=(ANSWER,), api_key="key", auth_style="x-api-key")
    stage = await serve(scenario)
    await stage.ask()
    assert [request.status for request in stage.requests] == [401, 200]
    assert stage.requests[1].headers["x-api-key"] == "key"
    assert "authorization" not in stage.requests[1].headers


async def test_a_wrong_key_is_reported_after_one_other_try(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(ANSWER,), api_key="right"), api_key="wrong")
    with pytest.raises(ModelError) as caught:
        await stage.ask()
    assert caught.value.kind == "authentication_error"
    assert len(stage.requests) == 2


async def test_without_a_key_nothing_is_looked_up_elsewhere(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    stage = await serve(Scenario(turns=(ANSWER,)), api_key=None)
    with pytest.raises(ModelError) as caught:
        await stage.ask()
    assert caught.value.kind == "not_configured"
    assert stage.requests == []


async def test_a_proxy_is_not_used_for_this_machine(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    stage = await serve(one(Text("ok")))
    assert (await stage.ask()).message().text == "ok"


async def test_capabilities_come_from_the_endpoint(serve: Serve) -> None:
    info = ModelInfo("claude-opus-5-5", 500_000, 9_000, efforts=("low", "high"))
    stage = await serve(Scenario(models=(info,)))
    found = await stage.client.capabilities("claude-opus-5-5")
    assert (found.context_window, found.max_output_tokens) == (500_000, 9_000)
    assert (found.efforts, found.source) == (("low", "high"), "endpoint")
    await stage.client.capabilities("claude-opus-5-5")
    assert len(stage.server.others) == 1


async def test_capabilities_fall_back_to_the_table(serve: Serve) -> None:
    stage = await serve(Scenario(models_endpoint=False))
    assert (await stage.client.capabilities("claude-opus-5-5")).source == "table"
    assert (await stage.client.capabilities("llama3")).source == "guess"


async def test_tokens_are_counted_where_the_endpoint_can(serve: Serve) -> None:
    stage = await serve(Scenario())
    assert (await stage.client.count_tokens(stage.request()) or 0) > 10
    without = await serve(Scenario(count_tokens=False))
    assert await without.client.count_tokens(without.request()) is None


async def test_models_are_listed(serve: Serve) -> None:
    stage = await serve(Scenario(models=(ModelInfo("a"), ModelInfo("b"))))
    assert await stage.client.list_models() == ("a", "b")


def test_importing_the_model_packages_loads_no_sdk() -> None:
    code = (
        "import sys, agent.model.anthropic, agent.model.endpoint, agent.model.scripted.server, "
        "agent.model.scripted.demo, agent.recovery.escalation\n"
        "heavy = {'anthropic', 'httpx2', 'pydantic', 'jiter'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def a_bad_day(rng: random.Random) -> Turn:
    """Return a turn with one random fault at a random place and a random way of being cut up."""
    places = ("accept", "headers", "event", "byte", "thinking", "text", "tool_input",
              "between_blocks", "before_delta", "before_stop", "end")  # fmt: skip
    at = Position(rng.choice(places), rng.randrange(1500))  # type: ignore[arg-type]
    names = ("message_start", "content_block_start", "content_block_delta", "content_block_stop",
             "message_delta", "message_stop")  # fmt: skip
    event, nth = rng.choice(names), rng.randrange(3)
    garbage = bytes(rng.randrange(256) for _ in range(rng.randrange(40)))
    fault: Fault = rng.choice(
        (
            Cut(at, rng.choice(("reset", "close", "end"))),
            ErrorFault(at),
            Insert(at, garbage),
            Insert(at, b"data: " + garbage + b"\n\n"),
            Drop(event, nth),
            Duplicate(event, nth),
            NoUsage(),
            Status(
                rng.choice((400, 401, 404, 413, 429, 500, 503, 529)),
                body=rng.choice((None, "", "<p>", "[]")),
            ),
        )
    )
    pace = Pace(chunk_bytes=rng.choice((0, -1, 1, 5, 100)), delta_tokens=1)
    return Turn(ANSWER.parts, fault=fault, pace=pace)


async def test_any_bad_day_ends_in_a_typed_error_or_a_valid_message(serve: Serve) -> None:
    rng = random.Random(20)
    turns: list[Turn] = []
    stage = await serve(Scenario(), respond=lambda _: turns.pop())
    for _ in range(80):
        turns = [Turn((Text("all is well"),)), a_bad_day(rng)]
        bad = turns[-1]
        error: ModelError | None = None
        try:
            fold = await stage.ask()
        except ModelError as caught:
            error = caught
        if error is None:
            assert fold.complete, bad
            kinds = [block["type"] for block in fold.message().content]
            assert kinds == [kind for kind in ("thinking", "text", "tool_use") if kind in kinds]
        else:
            assert classify(error).text, bad
        # A refused key is tried in both ways, so one turn may have been used up twice.
        turns = [Turn((Text("all is well"),))]
        assert (await stage.ask()).message().text == "all is well"
