"""What a fault makes of an answer, step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.scripted.faults import Cut, Insert, Position, Stall, parse_position
from agent.model.scripted.frames import Frame
from agent.model.scripted.send_plan import End, Send, SendHead, Step, Wait, plan_stream

FRAMES = [
    Frame("message_start", {"type": "message_start"}),
    Frame("content_block_delta", {"delta": {"type": "text_delta", "text": "ü"}}, 3),
    Frame("content_block_stop", {}),
    Frame("message_delta", {}),
    Frame("message_stop", {}),
]
WHOLE = b"".join(frame.encode() for frame in FRAMES)


def sent(steps: list[Step]) -> bytes:
    return b"".join(step.data for step in steps if isinstance(step, Send))


def test_without_faults_every_event_is_one_write() -> None:
    steps = plan_stream(FRAMES, ())
    assert steps == [SendHead(), *(Send(f.encode(), f.tokens) for f in FRAMES), End()]


@given(st.integers(-1, 200).filter(bool))
def test_chunks_add_up_to_the_answer(size: int) -> None:
    steps = plan_stream(FRAMES, (), chunk_bytes=size)
    assert sent(steps) == WHOLE
    if size > 0:
        assert all(len(step.data) <= size for step in steps if isinstance(step, Send))


@given(st.integers(0, len(WHOLE) + 50), st.integers(-1, 40))
def test_a_cut_at_a_byte_sends_exactly_that_many(at: int, size: int) -> None:
    steps = plan_stream(FRAMES, [Cut(Position("byte", at), "close")], chunk_bytes=size)
    assert sent(steps) == WHOLE[:at]
    assert steps[-1] == End("close")


def test_several_faults_each_strike_at_their_own_place() -> None:
    faults = (
        Insert(parse_position("event:1"), b"noise"),
        Stall(parse_position("text"), hold="h"),
        Cut(parse_position("before_stop"), "reset"),
    )
    steps = plan_stream(FRAMES, faults)
    assert steps[2] == Send(b"noise")
    assert steps[4] == Wait(None, "h")
    assert steps[-2:] == [Send(FRAMES[3].encode()), End("reset")]


def test_a_place_that_the_answer_lacks_is_before_its_last_event() -> None:
    steps = plan_stream(FRAMES, [Cut(parse_position("tool_input"), "close")])
    assert sent(steps) == b"".join(frame.encode() for frame in FRAMES[:-1])


def test_unknown_places_are_named() -> None:
    with pytest.raises(ValueError, match="middle"):
        parse_position("middle")
