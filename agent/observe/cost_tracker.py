"""Costs of a session: by model and token type, by prompt and in total, across restarts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from agent.events import Usage
from agent.model.prices import PriceTable, canonical_name, shipped_prices

RUNAWAY_FLOOR_USD: Final = 2.0
RUNAWAY_FACTOR: Final = 5.0
"""A prompt is a runaway if it costs at least this multiple of the average of earlier prompts, and
at least `RUNAWAY_FLOOR_USD`."""

MAX_PROMPTS: Final = 50
"""Costs of single prompts that are kept; each usage record of a transcript has all of them."""


class ModelCost(Struct, frozen=True):
    """Totals of one model."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    responses: int = 0
    is_priced: bool = True
    """False if some response had no known price, so that the cost is too low."""

    @property
    def cache_hit_rate(self) -> float:
        """Share of prompt tokens that came from the cache, 0 to 1."""
        prompt = self.usage.prompt_tokens
        return self.usage.cache_read_tokens / prompt if prompt else 0.0


class CostState(Struct, frozen=True):
    """All costs so far. Replaced, never changed."""

    models: Mapping[str, ModelCost]
    """By canonical name, in order of first use."""
    prompts_usd: tuple[float, ...] = ()
    """Cost of each of the latest prompts, the running one last."""

    @property
    def total_usd(self) -> float:
        """Cost of the session in US dollars."""
        return sum(model.cost_usd for model in self.models.values())

    @property
    def usage(self) -> Usage:
        """Tokens of the session, for all models together."""
        return sum((model.usage for model in self.models.values()), Usage())

    @property
    def is_complete(self) -> bool:
        """Whether every response had a known price."""
        return all(model.is_priced for model in self.models.values())

    def is_runaway(self) -> bool:
        """Return whether the running prompt costs far more than earlier ones."""
        *earlier, current = self.prompts_usd or (0.0,)
        usual = sum(earlier) / len(earlier) if earlier else 0.0
        return current >= max(RUNAWAY_FLOOR_USD, RUNAWAY_FACTOR * usual)

    def as_json(self) -> dict[str, object]:
        """Return the state as JSON for a transcript; `read_cost_state` parses it."""
        models = {
            name: {
                "usage": asdict(model.usage),
                "cost_usd": model.cost_usd,
                "responses": model.responses,
                "priced": model.is_priced,
            }
            for name, model in self.models.items()
        }
        return {"models": models, "prompts_usd": list(self.prompts_usd)}


class CostTracker:
    """Adds up responses as they arrive."""

    def __init__(self, *, prices: PriceTable | None = None, state: CostState | None = None) -> None:
        """`state` has the costs of a resumed session."""
        self.prices = prices or shipped_prices()
        self.state = state or CostState({})

    @property
    def total_usd(self) -> float:
        """Cost of the session in US dollars."""
        return self.state.total_usd

    def begin_prompt(self) -> None:
        """Count the following responses as a new prompt."""
        latest = (*self.state.prompts_usd, 0.0)[-MAX_PROMPTS:]
        self.state = replace(self.state, prompts_usd=latest)

    def add(self, model: str, usage: Usage) -> float:
        """Add one response and return its cost in US dollars; 0 if the price is unknown."""
        price = self.prices.price_of(model)
        cost = price.cost_usd(usage) if price is not None else 0.0
        name = canonical_name(model)
        cost_before = self.state.models.get(name, ModelCost())
        grown = ModelCost(
            usage=cost_before.usage + usage,
            cost_usd=cost_before.cost_usd + cost,
            responses=cost_before.responses + 1,
            is_priced=cost_before.is_priced and price is not None,
        )
        *earlier, current = self.state.prompts_usd or (0.0,)
        self.state = CostState(
            models={**self.state.models, name: grown},
            prompts_usd=(*earlier, current + cost),
        )
        return cost


def read_cost_state(record: object) -> CostState:
    """Parse what `CostState.as_json` returned; invalid values count as 0."""
    models: dict[str, ModelCost] = {}
    table = record if isinstance(record, Mapping) else {}
    rows = table.get("models")
    for name, row in (rows if isinstance(rows, Mapping) else {}).items():
        if isinstance(row, Mapping):
            models[str(name)] = ModelCost(
                usage=_usage(row.get("usage")),
                cost_usd=_number(row.get("cost_usd")),
                responses=int(_number(row.get("responses"))),
                is_priced=row.get("priced") is not False,
            )
    prompts = table.get("prompts_usd")
    spent = tuple(_number(each) for each in prompts) if isinstance(prompts, list) else ()
    return CostState(models, spent)


def _usage(record: object) -> Usage:
    table = record if isinstance(record, Mapping) else {}
    return Usage(**{name: int(_number(table.get(name))) for name in Usage.__struct_fields__})


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
        return float(value)
    return 0.0
