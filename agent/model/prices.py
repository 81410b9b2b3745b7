"""Token prices: the shipped table, overrides from settings, and the cost of one response."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from msgspec import Struct

from agent.events import Usage
from permissions.base.text.late_pattern import compile_late

WRITE_5M_FACTOR: Final = 1.25
WRITE_1H_FACTOR: Final = 2.0
READ_FACTOR: Final = 0.1
WEB_SEARCH_USD: Final = 0.01
"""Price of one search at the vendor's endpoint, at the table's date; fetching pages is free."""


class Price(Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    output: float
    write_5m: float
    write_1h: float
    read: float
    tiers: tuple[tuple[int, Price], ...] = ()
    """(prompt tokens, price of everything in prompts above them), ascending."""

    def cost_usd(self, usage: Usage) -> float:
        """Return what one response cost, in US dollars."""
        price = self
        for above_tokens, tier in self.tiers:
            if usage.prompt_tokens > above_tokens:
                price = tier
        total = (
            usage.input_tokens * price.input
            + usage.output_tokens * price.output
            + usage.cache_write_5m_tokens * price.write_5m
            + usage.cache_write_1h_tokens * price.write_1h
            + usage.cache_read_tokens * price.read
        )
        return total / 1_000_000 + usage.web_searches * WEB_SEARCH_USD


class PriceTable(Struct, frozen=True):
    """Prices by pattern for canonical model names; the first match is used."""

    date: str
    rows: tuple[tuple[re.Pattern[str], Price], ...]

    def price_of(self, model: str) -> Price | None:
        """Return the model's price; None if it is unknown, as for local models."""
        name = canonical_name(model)
        for pattern, price in self.rows:
            if pattern.search(name):
                return price
        return None

    def with_overrides(self, overrides: Mapping[str, object]) -> PriceTable:
        """Return the table with rows from settings in front: `{model: {input, output, …}}`.

        Raises:
            ValueError: a row has no usable `input` and `output`; the text names the model.
        """
        rows: list[tuple[re.Pattern[str], Price]] = []
        for model, row in overrides.items():
            pattern = re.compile(f"^{re.escape(canonical_name(model))}$")
            rows.append((pattern, _price(row, f"prices.{model}")))
        return PriceTable(self.date, (*rows, *self.rows))


@cache
def shipped_prices() -> PriceTable:
    """Return the table that comes with this version."""
    text = resources.files("agent.model").joinpath("prices.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    rows = tuple(
        (compile_late(row["pattern"]), _price(row, row["pattern"])) for row in table["row"]
    )
    return PriceTable(str(table["date"]), rows)


def canonical_name(model: str) -> str:
    """Return the name used for prices and totals: without provider, region, version and date.

    `us.anthropic.claude-haiku-4-5-20251001-v1:0`, `anthropic/claude-haiku-4-5` and
    `claude-haiku-4-5@20251001` are all `claude-haiku-4-5`.
    """
    name = model.strip().lower().rsplit("/", 1)[-1]
    name = re.sub(r"^([a-z]{2,6}\.)?anthropic\.", "", name)
    name = re.sub(r"\[.*\]$", "", name)
    name = re.sub(r"-v\d+(:\d+)?$", "", name)
    return re.sub(r"(-latest|[-@]20\d{6})$", "", name)


def _price(row: object, where: str) -> Price:
    if not isinstance(row, Mapping):
        raise ValueError(f"{where}: expected prices such as {{input = 2.0, output = 10.0}}")
    fresh = _amount(row, "input", where, None)
    tiers = tuple(
        (int(tier["above_prompt_tokens"]), _price(tier, where)) for tier in row.get("tier", ())
    )
    return Price(
        input=fresh,
        output=_amount(row, "output", where, None),
        write_5m=_amount(row, "write_5m", where, fresh * WRITE_5M_FACTOR),
        write_1h=_amount(row, "write_1h", where, fresh * WRITE_1H_FACTOR),
        read=_amount(row, "read", where, fresh * READ_FACTOR),
        tiers=tuple(sorted(tiers, key=lambda tier: tier[0])),
    )


def _amount(row: Mapping[str, object], name: str, where: str, default: float | None) -> float:
    value = row.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise ValueError(f"{where}: {name!r} must be dollars per million tokens, not {value!r}")
    return float(value)
