"""What a session costs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Usage
from agent.observe.cost_tracker import CostState, CostTracker, read_cost_state

READ = Usage(input_tokens=1000, output_tokens=500, cache_read_tokens=9000)


def test_spellings_of_one_model_are_one_line() -> None:
    tracker = CostTracker()
    tracker.add("claude-haiku-4-5-20251001", READ)
    tracker.add("anthropic/claude-haiku-4-5", READ)
    (model,) = tracker.state.models.values()
    assert list(tracker.state.models) == ["claude-haiku-4-5"]
    assert (model.responses, model.usage) == (2, READ + READ)
    assert model.cache_hit_rate == 0.9


def test_models_add_up() -> None:
    tracker = CostTracker()
    spent = tracker.add("claude-opus-5-5", READ) + tracker.add("claude-haiku-5-5", READ)
    assert tracker.total_usd == pytest.approx(spent)
    assert spent == pytest.approx(0.004 + 0.01 + 0.0018 + 0.0001 + 0.00025 + 0.00009)


def test_an_unknown_price_is_admitted() -> None:
    tracker = CostTracker()
    assert tracker.add("local", READ) == 0.0
    assert not tracker.state.is_complete


def test_a_runaway_is_a_prompt_far_above_the_usual() -> None:
    assert CostState({}, (1.0, 1.0, 5.0)).is_runaway()
    assert not CostState({}, (1.0, 1.0, 4.9)).is_runaway()
    assert not CostState({}, (0.1, 1.9)).is_runaway()
    assert not CostState({}).is_runaway()


def test_prompts_are_counted_apart() -> None:
    tracker = CostTracker()
    tracker.begin_prompt()
    first = tracker.add("claude-opus-5-5", READ)
    tracker.begin_prompt()
    assert tracker.state.prompts_usd == (first, 0.0)


@given(st.lists(st.tuples(st.sampled_from(["claude-opus-5-5", "x"]), st.integers(0, 10**6))))
def test_the_state_survives_a_restart(responses: list[tuple[str, int]]) -> None:
    tracker = CostTracker()
    for model, tokens in responses:
        tracker.begin_prompt()
        tracker.add(model, Usage(input_tokens=tokens, cache_write_1h_tokens=tokens))
    assert read_cost_state(json.loads(json.dumps(tracker.state.as_json()))) == tracker.state


@pytest.mark.parametrize("record", [None, 3, {"models": 3}, {"models": {"a": {"usage": 1}}}])
def test_a_damaged_record_counts_as_nothing(record: object) -> None:
    assert read_cost_state(record).total_usd == 0.0


def test_a_resumed_session_continues_from_its_total() -> None:
    first = CostTracker()
    spent = first.add("claude-opus-5-5", READ)
    second = CostTracker(state=first.state)
    second.add("claude-opus-5-5", READ)
    assert second.total_usd == pytest.approx(2 * spent)
