"""Prices of models and responses."""

from __future__ import annotations

import pytest

from agent.events import Usage
from agent.model.prices import canonical_name, shipped_prices

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("claude-sonnet-5-5[1m]", "claude-sonnet-5-5"),
        ("llama3:8b", "llama3:8b"),
    ],
)
def test_names_of_one_model_are_one(model: str, name: str) -> None:
    assert canonical_name(model) == name


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("claude-opus-5-5", Usage(input_tokens=MILLION), 4.0),
        ("claude-opus-5-5", Usage(output_tokens=MILLION), 20.0),
        ("claude-opus-5-5", Usage(cache_write_5m_tokens=MILLION), 5.0),
        ("claude-opus-5-5", Usage(cache_write_1h_tokens=MILLION), 8.0),
        ("claude-opus-5-5", Usage(cache_read_tokens=MILLION), 0.2),
        ("claude-fable-5-1", Usage(cache_read_tokens=MILLION), 0.25),
        ("claude-fable-5", Usage(cache_read_tokens=MILLION), 1.0),
        ("claude-haiku-5-5", Usage(input_tokens=100_000), 0.01),
        ("claude-haiku-5-5", Usage(input_tokens=100_001, output_tokens=1000), 0.0525005),
        ("demo-scripted", Usage(input_tokens=MILLION), 0.0),
    ],
)
def test_each_token_type_has_its_price(model: str, usage: Usage, cost: float) -> None:
    price = shipped_prices().price_of(model)
    assert price is not None
    assert price.cost_usd(usage) == pytest.approx(cost)


def test_local_models_have_no_price() -> None:
    assert shipped_prices().price_of("qwen3-coder") is None


def test_overrides_go_first() -> None:
    table = shipped_prices().with_overrides({"claude-opus-5-5": {"input": 1, "output": 2}})
    price = table.price_of("anthropic/claude-opus-5-5")
    assert price is not None
    assert (price.input, price.write_5m, price.read) == (1.0, 1.25, 0.1)


@pytest.mark.parametrize("row", [{}, {"input": "1", "output": 2}, {"input": -1, "output": 2}, 3])
def test_unusable_overrides_name_the_model(row: object) -> None:
    with pytest.raises(ValueError, match=r"prices\.mine"):
        shipped_prices().with_overrides({"mine": row})
