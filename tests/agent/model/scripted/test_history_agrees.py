"""A history that the agent takes for valid is one that the scripted server takes, and only that."""

from __future__ import annotations

from hypothesis import event, given, settings
from hypothesis import strategies as st

from agent.history import problems
from agent.messages import Block, Message, text_block, tool_result_block
from agent.model.capabilities import known_capabilities
from agent.model.client import ModelRequest
from agent.model.scripted.prefix import chain_of
from agent.model.scripted.scenario import ModelInfo
from agent.model.scripted.validate import find_problem
from agent.model.wire import request_body
from tests.examples import examples

IDS = st.sampled_from("ab")
CALL = IDS.map(lambda each: {"type": "tool_use", "id": each, "name": "Read", "input": {}})
RESULT = st.builds(tool_result_block, IDS, st.just("ok"), is_error=st.booleans())
TEXT = st.sampled_from(["hello", "hello", "hello", " "]).map(text_block)


def message(role: str, blocks: list[Block]) -> Message:
    return Message(role=role, content=tuple(blocks), origin="person")  # type: ignore[arg-type]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Draw histories that are often valid and often nearly so."""
    history: list[Message] = [message("user", [text_block("go")])]
    for _ in range(draw(st.integers(0, 3))):
        calls = draw(st.lists(CALL, max_size=2))
        history.append(message("assistant", [*draw(st.lists(TEXT, max_size=1)), *calls]))
        answers = [tool_result_block(str(call["id"]), "ok") for call in calls]
        if draw(st.integers(0, 3)) == 0:
            answers = draw(st.lists(RESULT, max_size=3))
        history.append(message("user", [*answers, *draw(st.lists(TEXT, max_size=1))]))
    if draw(st.integers(0, 4)) == 0:
        history.pop(draw(st.integers(0, len(history) - 1)))
    return history


@settings(max_examples=examples(300))
@given(histories())
def test_both_agree(history: list[Message]) -> None:
    request = ModelRequest("claude-opus-5-5", (), (), history, 100)
    body = request_body(request, known_capabilities(request.model))
    problem = find_problem(
        body,
        chain_of(body),
        ModelInfo(request.model),
        bound_thinking=True,
        may_end_with_assistant=False,
    )
    found = problems(history)
    event("valid" if problem is None else "invalid")
    assert (problem is None) == (found == ()), (problem, found)
