"""Tool calls of careless servers."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from agent.history import problems
from agent.messages import Message, tool_result_block, tool_results_message, user_message
from agent.model.client import BlockStart, BlockStop
from agent.model.message_builder import ID_LIMIT, NAMELESS, CallRepair

IDENTIFIER = re.compile(r"[A-Za-z0-9_-]+")


def started(calls: CallRepair, **block: object) -> dict[str, object]:
    event = calls.repair(BlockStart(0, {"type": "tool_use", "input": {}, **block}))
    assert isinstance(event, BlockStart)
    return event.block


def test_a_proper_call_passes_as_it_is() -> None:
    event = BlockStart(0, {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}})
    assert CallRepair(()).repair(event) is event
    stop = BlockStop(0)
    assert CallRepair(()).repair(stop) is stop


def test_a_call_without_id_or_name_gets_both() -> None:
    block = started(CallRepair(()))
    assert IDENTIFIER.fullmatch(str(block["id"]))
    assert block["name"] == NAMELESS


def test_an_id_that_is_longer_than_any_is_replaced() -> None:
    assert started(CallRepair(()), id="a" * ID_LIMIT, name="Read")["id"] == "a" * ID_LIMIT
    assert len(str(started(CallRepair(()), id="a" * (ID_LIMIT + 1), name="Read")["id"])) < ID_LIMIT


def test_a_name_of_other_letters_is_spelled_with_underscores() -> None:
    assert started(CallRepair(()), id="a", name="Re ad\u202e\x1b")["name"] == "Re_ad__"


@given(st.lists(st.lists(st.sampled_from(["", "call_0", "call_1", "é"]), max_size=4), max_size=5))
def test_every_history_of_such_calls_may_be_sent(turns: list[list[str]]) -> None:
    history: list[Message] = [user_message("go")]
    for ids in turns:
        calls = CallRepair(history)
        blocks = tuple(dict(started(calls, id=each, name="Read")) for each in ids)
        if not blocks:
            continue
        history.append(Message(role="assistant", content=blocks, origin="model"))
        history.append(tool_results_message(tool_result_block(str(b["id"]), "ok") for b in blocks))
    assert problems(history) == ()
