"""Conversations in every dialect, with a server that rejects what the real ones reject."""

from __future__ import annotations

from typing import Literal

import httpx2
import pytest

from agent.messages import Message, user_message
from agent.model.client import ModelError
from agent.model.dialects.dialect_failures import response_failure
from agent.model.scripted.faults import (
    Cut,
    ErrorFault,
    NoUsage,
    Position,
    Quirk,
    Status,
    WholeJson,
)
from agent.model.scripted.scenario import Scenario, Text, Thinking, ToolCall, Turn
from agent.recovery.classify import FailureKind, classify
from tests.agent.model.providers.conftest import DIALECTS, ProviderStage, Serve, results

BOTH = Turn(
    (
        Thinking("Two files are needed."),
        Text("I read both."),
        ToolCall("Read", {"path": "a.py"}),
        ToolCall("Read", {"path": "b.py"}),
    ),
    name="both",
)
DONE = Turn((Text("Done, both read."),), name="done")

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)


async def conversation(stage: ProviderStage, dialect: str) -> list[Message]:
    """Have the model call two tools and answer; return the whole history."""
    history = [user_message("read both")]
    first = (await stage.ask(dialect, *history)).message()
    history += [first, results(first, "text of a", "text of b")]
    last = (await stage.ask(dialect, *history)).message()
    return [*history, last]


@each_dialect
async def test_parallel_calls_and_their_results(serve: Serve, dialect: str) -> None:
    stage = await serve(Scenario(turns=(BOTH, DONE)))
    history = await conversation(stage, dialect)
    kinds = [block["type"] for block in history[1].content]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    assert history[1].text == "I read both."
    assert [use.input for use in history[1].tool_uses()] == [{"path": "a.py"}, {"path": "b.py"}]
    assert history[1].stop_reason == "tool_use"
    assert history[1].model is not None
    assert history[1].model.startswith(f"{dialect}/")
    assert history[3].text == "Done, both read."
    assert history[3].stop_reason == "end_turn"
    assert [each.problem for each in stage.server.requests] == ["", ""]
    assert stage.server.requests[1].turn == "done"


@each_dialect
async def test_counts_are_ours(serve: Serve, dialect: str) -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 9}
    stage = await serve(Scenario(turns=(Turn((Text("Hi."),), usage=usage),)))
    fold = await stage.ask(dialect)
    assert fold.usage.input_tokens == 100
    assert fold.usage.cache_read_tokens == 40
    assert fold.usage.prompt_tokens == 140
    assert fold.usage.output_tokens == 9


@each_dialect
async def test_an_answer_without_counts_is_whole(serve: Serve, dialect: str) -> None:
    stage = await serve(Scenario(turns=(Turn((Text("Hi."),), fault=NoUsage()),)))
    fold = await stage.ask(dialect)
    assert fold.complete
    assert fold.usage.output_tokens == 0


@each_dialect
async def test_an_answer_that_was_not_streamed(serve: Serve, dialect: str) -> None:
    turn = Turn((Text("Hi."), ToolCall("Read", {"path": "a"})), fault=WholeJson())
    stage = await serve(Scenario(turns=(turn,)))
    fold = await stage.ask(dialect)
    assert fold.message().text == "Hi."
    assert [use.input for use in fold.tool_uses()] == [{"path": "a"}]
    assert fold.stop_reason == "tool_use"


@each_dialect
@pytest.mark.parametrize(("reason", "ours"), [("max_tokens", "max_tokens"), ("refusal", "refusal")])
async def test_stop_reasons(serve: Serve, dialect: str, reason: str, ours: str) -> None:
    stage = await serve(Scenario(turns=(Turn((Text("Hm."),), stop_reason=reason),)))
    assert (await stage.ask(dialect)).stop_reason == ours


@each_dialect
@pytest.mark.parametrize("at", [Position("text"), Position("between_blocks")])
async def test_a_cut_stream_is_a_cut(serve: Serve, dialect: str, at: Position) -> None:
    turn = Turn((Text("One. " * 40), Text("Two.")), fault=Cut(at, "end"))
    stage = await serve(Scenario(turns=(turn,)))
    with pytest.raises(ModelError) as caught:
        await stage.ask(dialect)
    assert caught.value.kind == "cut"
    assert classify(caught.value).retryable


@each_dialect
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FailureKind.AUTHENTICATION),
        (402, FailureKind.BILLING),
        (403, FailureKind.PERMISSION),
        (429, FailureKind.RATE_LIMITED),
        (500, FailureKind.SERVER),
        (529, FailureKind.OVERLOADED),
    ],
)
async def test_failures_are_understood(
    serve: Serve, dialect: str, status: int, kind: FailureKind
) -> None:
    fault = Status(status, message="no", headers={"retry-after": "7"})
    stage = await serve(Scenario(turns=(Turn(fault=fault),)))
    with pytest.raises(ModelError) as caught:
        await stage.ask(dialect)
    failure = classify(caught.value)
    assert failure.kind is kind
    assert failure.retry_after_s == 7.0
    if kind is FailureKind.AUTHENTICATION:
        key = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "chat": "keyVariable"}
        assert key[dialect] in failure.hint


@each_dialect
async def test_an_error_inside_the_stream(serve: Serve, dialect: str) -> None:
    fault = ErrorFault(Position("text"), "rate_limit_error", "Slow down.")
    stage = await serve(Scenario(turns=(Turn((Text("One. " * 40),), fault=fault),)))
    with pytest.raises(ModelError) as caught:
        await stage.ask(dialect)
    assert classify(caught.value).kind is FailureKind.RATE_LIMITED
    assert caught.value.phase == "stream"


@pytest.mark.parametrize(
    "quirk",
    [
        "zero_index",
        "no_ids",
        "whole_calls",
        "object_arguments",
        "calls_as_text",
        "finish_stop",
        "reasoning_field",
        "comments",
    ],
)
async def test_quirks_of_chat_completions(serve: Serve, quirk: str) -> None:
    turn = Turn(BOTH.parts, name="both", fault=Quirk(quirk))  # type: ignore[arg-type]
    stage = await serve(Scenario(turns=(turn, DONE)))
    history = await conversation(stage, "chat")
    assert [use.input for use in history[1].tool_uses()] == [{"path": "a.py"}, {"path": "b.py"}]
    assert history[1].text.strip() == "I read both."
    assert history[1].stop_reason == "tool_use"
    assert [each.problem for each in stage.server.requests] == ["", ""]


@pytest.mark.parametrize("quirk", ["no_index", "whole_calls"])
async def test_quirks_of_responses(serve: Serve, quirk: Literal["no_index"]) -> None:
    turn = Turn(BOTH.parts, name="both", fault=Quirk(quirk))
    stage = await serve(Scenario(turns=(turn, DONE)))
    history = await conversation(stage, "openai")
    assert [use.input for use in history[1].tool_uses()] == [{"path": "a.py"}, {"path": "b.py"}]
    assert history[1].text == "I read both."
    assert [each.problem for each in stage.server.requests] == ["", ""]


async def test_gemini_without_ids(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(Turn(BOTH.parts, fault=Quirk("no_ids")), DONE)))
    await conversation(stage, "gemini")
    assert [each.problem for each in stage.server.requests] == ["", ""]
    parts = [part for c in stage.server.requests[1].body["contents"] for part in c["parts"]]
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    assert [sorted(each) for each in answers] == [["name", "response"]] * 2


async def test_a_malformed_call_of_gemini_is_tried_again(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(Turn((Text("x"),), fault=Quirk("malformed_call")),)))
    with pytest.raises(ModelError) as caught:
        await stage.ask("gemini")
    assert classify(caught.value).retryable


@each_dialect
async def test_a_history_continues_with_any_other(serve: Serve, dialect: str) -> None:
    """What one provider wrote the others take, without what only it can read."""
    for other in (*DIALECTS, "claude-opus-5-5"):
        stage = await serve(Scenario(turns=(BOTH, DONE, Turn((Text("Goodbye."),)))))
        history = await conversation(stage, dialect)
        last = await stage.ask(other, *history, user_message("bye"))
        assert last.message().text == "Goodbye."
        assert [each.problem for each in stage.server.requests] == ["", "", ""]
        mine = stage.client.left_out(history, stage.request(other).model)
        assert bool(mine) == (other != dialect)


async def test_claudes_history_continues_with_any_other(serve: Serve) -> None:
    for other in DIALECTS:
        stage = await serve(Scenario(turns=(BOTH, DONE, Turn((Text("Goodbye."),)))))
        history = await conversation(stage, "claude-opus-5-5")
        last = await stage.ask(other, *history, user_message("bye"))
        assert last.message().text == "Goodbye."
        assert [each.problem for each in stage.server.requests] == ["", "", ""]


def test_a_key_that_litellm_cannot_look_up_is_a_wrong_key() -> None:
    body = b'{"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}'
    failure = classify(response_failure(httpx2.Response(400, content=body), body))
    assert failure.kind is FailureKind.AUTHENTICATION
    other = b'{"error": {"message": "No.", "type": "invalid_request_error", "code": "400"}}'
    assert response_failure(httpx2.Response(400), other).kind == "invalid_request_error"
