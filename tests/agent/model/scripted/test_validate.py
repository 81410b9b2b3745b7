"""The scripted server rejects what the real endpoint rejects."""

from __future__ import annotations

from typing import Any

import pytest

from agent.model.scripted.prefix import chain_of, sign_thinking
from agent.model.scripted.scenario import ModelInfo
from agent.model.scripted.validate import find_problem

USER = {"role": "user", "content": "hi"}


def use(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": each, "name": "Read", "input": {}} for each in ids]
    return {"role": "assistant", "content": blocks}


def results(*ids: str, first: str | None = None) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": first}] if first else []
    blocks += [{"type": "tool_result", "tool_use_id": each, "content": "ok"} for each in ids]
    return {"role": "user", "content": blocks}


def said(*blocks: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def problem_of(*messages: dict[str, Any], **fields: Any) -> str:
    body = {"model": "m", "max_tokens": 10, "messages": list(messages), **fields}
    problem = find_problem(
        body,
        chain_of(body),
        ModelInfo("m"),
        bound_thinking=True,
        may_end_with_assistant=False,
    )
    return problem.message if problem else ""


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, use("a"), results("a")],
        [USER, use("a", "b"), results("b", "a"), USER],
        [USER, use("a"), results("a"), {"role": "system", "content": "be brief"}],
        [USER, use("a"), said({"type": "tool_result", "tool_use_id": "a"})],
        [USER, USER, said({"type": "text", "text": "x"}, role="assistant"), USER],
    ],
)
def test_valid_histories_pass(messages: list[dict[str, Any]]) -> None:
    assert problem_of(*messages) == ""


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "at least one message"),
        ([use("a"), results("a")], 'the "user" role'),
        ([USER, said({"type": "text", "text": "x"}, role="assistant")], "prefill"),
        ([USER, use("a"), USER], "without `tool_result` blocks immediately after: a"),
        ([USER, use("a", "b"), results("a")], "immediately after: b"),
        ([USER, use("a"), results("a", first="well")], "immediately after"),
        ([USER, results("a")], "unexpected `tool_use_id`"),
        ([USER, use("a"), results("a", "a")], "single result"),
        ([USER, use("a"), results("a"), use("a"), results("a")], "must be unique"),
        ([said({"type": "text", "text": ""})], "non-empty"),
        ([said({"type": "text", "text": " \n"})], "non-whitespace"),
        ([{"role": "user", "content": []}], "non-empty content"),
        ([{"role": "user", "content": ""}], "non-empty"),
        ([{"role": "tool", "content": "x"}], "role"),
        ([{"role": "user", "content": "x", "uid": "1"}], "uid: Extra inputs"),
        ([said({"type": "tool_use", "id": "a", "name": "R", "input": {}})], "not permitted"),
        ([USER, said({"type": "thinking", "thinking": "x"}, role="assistant"), USER], "signature"),
    ],
)
def test_invalid_histories_are_rejected(messages: list[dict[str, Any]], words: str) -> None:
    assert words in problem_of(*messages)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"temperature": 0.2}, "temperature"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "thinking.type.enabled"),
        ({"output_config": {"effort": "extreme"}}, "effort"),
        ({"color": "red"}, "color: Extra inputs"),
        ({"max_tokens": 65_000}, "65000 > 64000, which is the maximum"),
        ({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}, "match pattern"),
        ({"tools": [{"name": "a", "input_schema": {"type": "string"}}]}, "should be 'object'"),
        ({"tools": [{"name": "a", "input_schema": {"type": "object"}}] * 2}, "unique"),
        ({"system": [{"type": "text", "text": ""}]}, "system: text"),
        (
            {"system": [{"type": "text", "text": "x", "cache_control": {"a": 1}}] * 5},
            "maximum of 4",
        ),
    ],
)
def test_invalid_fields_are_rejected(fields: dict[str, Any], words: str) -> None:
    assert words in problem_of(USER, **fields)


def test_a_prompt_that_leaves_no_room_for_the_answer_names_the_numbers() -> None:
    message = problem_of({"role": "user", "content": "x" * 600_000}, max_tokens=60_000)
    assert "input length and `max_tokens` exceed context limit" in message
    assert "+ 60000 > 200000" in message


def test_a_prompt_beyond_the_window_names_the_numbers() -> None:
    message = problem_of({"role": "user", "content": "x" * 1_000_000})
    assert message.startswith("prompt is too long: 25")


def test_thinking_is_bound_to_what_came_before_it() -> None:
    before = chain_of({"system": "s", "messages": [USER]})
    thinking = {
        "type": "thinking",
        "thinking": "hm",
        "signature": sign_thinking(before.digest, "hm"),
    }
    answer = said(thinking, {"type": "text", "text": "x"}, role="assistant")
    assert problem_of(USER, answer, USER, system="s") == ""
    assert problem_of(USER, answer, USER, system=[{"type": "text", "text": "s"}]) == ""
    assert "modified" in problem_of(USER, answer, USER, system="another")
    assert "modified" in problem_of({"role": "user", "content": "ho"}, answer, USER, system="s")


CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (CLOSED, ""),
        ({**CLOSED, "properties": {"a": {"type": "string", "minLength": 1}}}, "minLength"),
        ({**CLOSED, "properties": {"a": {"type": "integer", "minimum": 1}}}, "minimum"),
        ({"type": "object", "properties": {}}, "explicitly set to false"),
        ({**CLOSED, "properties": {"a": {}}}, "without a type"),
        ({**CLOSED, "properties": {"a": {"type": "array", "minItems": 2}}}, "0 or 1"),
        (
            {**CLOSED, "properties": {f"p{at}": {"type": "string"} for at in range(25)}},
            "too many optional parameters (25)",
        ),
    ],
)
def test_strict_tools_are_compiled(schema: dict[str, Any], words: str) -> None:
    tool = {"name": "t", "input_schema": schema}
    assert problem_of(USER, tools=[tool]) == ""
    problem = problem_of(USER, tools=[{**tool, "strict": True}])
    assert words in problem
    assert bool(problem) is bool(words)


def test_only_twenty_tools_may_be_strict() -> None:
    tools = [{"name": f"t{at}", "input_schema": CLOSED, "strict": True} for at in range(21)]
    assert problem_of(USER, tools=tools[1:]) == ""
    assert "Too many strict tools (21)" in problem_of(USER, tools=tools)
