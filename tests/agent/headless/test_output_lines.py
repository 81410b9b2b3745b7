"""The lines of stream-json in the shapes of the Messages API."""

from __future__ import annotations

from typing import Any

from agent.events import (
    Compacted,
    Complete,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    Usage,
)
from agent.headless.output_lines import Delta, PartialLines, notice_line


def told(*events: Delta | Complete) -> list[dict[str, Any]]:
    partial = PartialLines("s")
    lines = [
        line
        for event in events
        for line in (
            partial.complete(event)
            if isinstance(event, Complete)
            else partial.delta(event, "some-model")
        )
    ]
    assert all(line["session_id"] == "s" and line["uuid"] for line in lines)
    return lines


def kinds(lines: list[dict[str, Any]]) -> list[tuple[str, int | None]]:
    return [(line["event"]["type"], line["event"].get("index")) for line in lines]


def test_an_answer_is_reported_from_its_start_to_its_end() -> None:
    lines = told(
        ThinkingDelta("t", "m", 0, "hm"),
        TextDelta("t", "m", 1, "a"),
        TextDelta("t", "m", 1, "b"),
        ToolInputDelta("t", "m", "c1", "Read", ""),
        ToolInputDelta("t", "m", "c1", "Read", "{}"),
        ToolInputDelta("t", "m", "c2", "Read", ""),
        Complete("t", "m", "tool_use", Usage(input_tokens=3, output_tokens=4)),
    )
    assert kinds(lines) == [
        ("message_start", None),
        ("content_block_start", 0), ("content_block_delta", 0), ("content_block_stop", 0),
        ("content_block_start", 1), ("content_block_delta", 1), ("content_block_delta", 1),
        ("content_block_stop", 1),
        ("content_block_start", 2), ("content_block_delta", 2), ("content_block_stop", 2),
        ("content_block_start", 3), ("content_block_stop", 3),
        ("message_delta", None), ("message_stop", None),
    ]  # fmt: skip
    assert lines[0]["event"]["message"]["model"] == "some-model"
    assert lines[8]["event"]["content_block"] == {
        "type": "tool_use", "id": "c1", "name": "Read", "input": {},
    }  # fmt: skip
    assert lines[-2]["event"]["delta"]["stop_reason"] == "tool_use"
    assert lines[-2]["event"]["usage"]["output_tokens"] == 4


def test_answers_of_agents_do_not_mix_and_name_the_call_they_belong_to() -> None:
    lines = told(
        TextDelta("t", "m", 0, "a"),
        TextDelta("call-1", "n", 0, "x", agent_id="agent"),
        TextDelta("t", "m", 0, "b"),
    )
    assert kinds(lines) == [
        ("message_start", None), ("content_block_start", 0), ("content_block_delta", 0),
        ("message_start", None), ("content_block_start", 0), ("content_block_delta", 0),
        ("content_block_delta", 0),
    ]  # fmt: skip
    assert [line["parent_tool_use_id"] for line in lines[2:5]] == [None, "call-1", "call-1"]


def test_an_answer_that_is_begun_again_begins_again() -> None:
    lines = told(TextDelta("t", "m", 0, "a"), TextDelta("t", "n", 0, "b"))
    assert [kind for kind, _ in kinds(lines)].count("message_start") == 2


def test_nothing_is_closed_that_was_not_opened() -> None:
    assert told(Complete("t", "m", "end_turn", Usage())) == []


def test_retries_and_compactions_are_system_lines() -> None:
    scheduled = RetryScheduled("t", 2, 11, 0.5, "Too many requests", "rate_limited", 429)
    retry = notice_line(scheduled, "s")
    assert (retry["type"], retry["subtype"]) == ("system", "api_retry")
    assert (retry["error_status"], retry["error"]) == (429, "rate_limit")
    assert retry["reason"] == "Too many requests"
    assert (retry["attempt"], retry["max_retries"], retry["retry_delay_ms"]) == (1, 10, 500)
    compacted = notice_line(Compacted("t", "reactive", 900, 100, "…"), "s")
    assert compacted["compact_metadata"] == {"trigger": "auto", "pre_tokens": 900}
