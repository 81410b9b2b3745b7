"""Folding events into a message."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Usage
from agent.model.client import (
    BlockDelta,
    BlockStart,
    BlockStop,
    MessageDelta,
    MessageStart,
    MessageStop,
    ModelError,
    ModelEvent,
)
from agent.model.message_builder import MessageBuilder

START = MessageStart("msg_1", "m", Usage(input_tokens=5))


def folded(*events: ModelEvent) -> MessageBuilder:
    fold = MessageBuilder()
    for event in events:
        fold.feed(event)
    return fold


def text(index: int, *pieces: str) -> list[ModelEvent]:
    deltas = [BlockDelta(index, {"type": "text_delta", "text": piece}) for piece in pieces]
    return [BlockStart(index, {"type": "text", "text": ""}), *deltas, BlockStop(index)]


@given(st.lists(st.text(), max_size=8))
def test_deltas_join_to_the_text(pieces: list[str]) -> None:
    whole = "".join(pieces)
    blocks = folded(START, *text(0, *pieces)).message().content
    assert blocks == (({"type": "text", "text": whole},) if whole.strip() else ())


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text(), max_size=4), st.data())
def test_tool_input_may_be_cut_anywhere(value: dict[str, object], data: st.DataObject) -> None:
    raw = json.dumps(value)
    at = data.draw(st.integers(0, len(raw)))
    fold = folded(
        START,
        BlockStart(0, {"type": "tool_use", "id": "t", "name": "Read", "input": {}}),
        BlockDelta(0, {"type": "input_json_delta", "partial_json": raw[:at]}),
        BlockDelta(0, {"type": "input_json_delta", "partial_json": raw[at:]}),
        BlockStop(0),
    )
    assert fold.tool_uses()[0].input == value


def test_only_complete_blocks_enter_an_interrupted_message() -> None:
    fold = folded(
        START,
        *text(0, "whole"),
        BlockStart(1, {"type": "text", "text": ""}),
        BlockDelta(1, {"type": "text_delta", "text": "half"}),
    )
    assert fold.message().text == "whole"
    assert fold.partial_text == "half"
    assert not fold.complete


def test_unsigned_thinking_is_left_out() -> None:
    fold = folded(START, BlockStart(0, {"type": "thinking", "thinking": "x"}), BlockStop(0))
    assert fold.message().content == ()


def test_compaction_blocks_are_kept_whole() -> None:
    fold = folded(
        START,
        BlockStart(0, {"type": "compaction", "content": None}),
        BlockDelta(0, {"type": "compaction_delta", "content": "sum", "encrypted_content": "e"}),
        BlockStop(0),
    )
    assert fold.message().content == (
        {"type": "compaction", "content": "sum", "encrypted_content": "e"},
    )


def test_citations_add_up() -> None:
    fold = folded(
        START,
        BlockStart(0, {"type": "text", "text": "a", "citations": None}),
        BlockDelta(0, {"type": "citations_delta", "citation": {"n": 1}}),
        BlockDelta(0, {"type": "citations_delta", "citation": {"n": 2}}),
        BlockStop(0),
    )
    assert fold.message().content[0]["citations"] == [{"n": 1}, {"n": 2}]


def test_absent_counts_keep_their_earlier_value() -> None:
    fold = folded(
        MessageStart("m", "m", Usage(input_tokens=5, cache_write_1h_tokens=7)),
        MessageDelta("end_turn", None, {"output_tokens": 3, "cache_creation_input_tokens": 7}),
        MessageDelta(None, None, {}),
    )
    assert fold.usage == Usage(input_tokens=5, output_tokens=3, cache_write_1h_tokens=7)
    assert fold.stop_reason == "end_turn"


@pytest.mark.parametrize(
    "events",
    [
        [BlockDelta(0, {"type": "text_delta", "text": "x"})],
        [BlockStop(0)],
        [*text(0, "a"), BlockDelta(0, {"type": "text_delta", "text": "x"})],
        [*text(0, "a"), BlockStart(0, {"type": "text"})],
        [*text(0, "a"), START],
        [MessageStart("another", "m", Usage())],
    ],
    ids=["delta first", "end first", "delta after end", "index again", "start again", "two starts"],
)
def test_contradictions_are_malformed(events: list[ModelEvent]) -> None:
    with pytest.raises(ModelError) as caught:
        folded(START, *events)
    assert caught.value.kind == "malformed"


def test_nothing_counts_after_the_end() -> None:
    assert folded(START, *text(0, "a"), MessageStop(), *text(1, "b")).message().text == "a"


@pytest.mark.parametrize(
    "raw",
    [
        '{"limit": NaN}',
        '{"limit": -Infinity}',
        '{"limit": 1e999}',
        '{"a":' + "[" * 900 + "]" * 900 + "}",
    ],
    ids=["no number", "infinite", "too large", "too deep"],
)
def test_input_that_no_request_could_hold_is_invalid(raw: str) -> None:
    (use,) = folded(START, *call(raw), MessageStop()).tool_uses()
    assert use.input == {}
    assert use.invalid_json == raw


def test_half_a_character_in_a_tool_input_is_replaced() -> None:
    (use,) = folded(START, *call('{"content": "a\\ud800b"}'), MessageStop()).tool_uses()
    assert use.input == {"content": "a\ufffdb"}


def call(raw: str) -> list[ModelEvent]:
    return [
        BlockStart(0, {"type": "tool_use", "id": "t", "name": "Read", "input": {}}),
        BlockDelta(0, {"type": "input_json_delta", "partial_json": raw}),
        BlockStop(0),
    ]
