"""Build the accounting of a conversation: prices, totals, budget, ledger across sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from pathlib import Path

from msgspec import Struct

from agent.assembly.start_context import StartContext
from agent.conversation.accounting import Accounting
from agent.conversation.model_selection import ModelInUse
from agent.events import Usage
from agent.model.prices import PriceTable, canonical_name, shipped_prices
from agent.observe.cost_tracker import CostTracker, read_cost_state
from agent.observe.ledger import Costs, Ledger, LedgerEntry, Sums, ledger_path
from agent.observe.sink_thread import SinkThread
from agent.settings.load import Settings


class CostParts(Struct, frozen=True):
    """The parts that add up costs; `accounting` takes the usage of each response."""

    accounting: Accounting
    costs: Costs
    warnings: tuple[str, ...]
    entries: SinkThread[LedgerEntry]
    """Writes the ledger."""

    async def aclose(self) -> None:
        """Write all pending entries."""
        await asyncio.to_thread(self.entries.close)


def build_costs(
    start: StartContext, model_in_use: ModelInUse, *, on_exceeded: Callable[[str], None]
) -> CostParts:
    """Build the accounting, which adds to the totals of `model_in_use`."""
    resumed_conversation = start.resumed_conversation
    path, session_id = ledger_path(start.environment.agent_home), start.session.id
    entries = SinkThread(Ledger(path).add, name="costs")
    prices, warnings = _prices(start.settings)

    def add(model: str, usd: float, usage: Usage) -> None:
        entries(LedgerEntry(session_id, date.today(), canonical_name(model), usd, usage))

    tracker = CostTracker(
        prices=prices,
        state=read_cost_state(resumed_conversation.cost_by_model) if resumed_conversation else None,
    )
    accounting = Accounting(
        model_in_use.totals,
        tracker,
        lambda: model_in_use.model,
        max_budget_usd=start.max_budget_usd(),
        on_exceeded=on_exceeded,
        add_to_ledger=add,
    )
    costs = Costs(lambda: tracker.state, lambda: _sums(path))
    return CostParts(accounting, costs, warnings, entries)


def _prices(settings: Settings) -> tuple[PriceTable, tuple[str, ...]]:
    try:
        return shipped_prices().with_overrides(settings.values.prices or {}), ()
    except ValueError as error:
        return shipped_prices(), (f"Settings: {error}. The built-in prices are used.",)


async def _sums(path: Path) -> Sums:
    return await asyncio.to_thread(Ledger(path).sums, date.today())
