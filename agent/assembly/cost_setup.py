"""Wires what a conversation costs: prices, totals, budget, and the ledger across sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date

from agent.assembly.start_context import StartContext
from agent.conversation.accounting import Accounting
from agent.conversation.model_selection import ModelInUse
from agent.events import Usage
from agent.model.prices import PriceTable, canonical_name, shipped_prices
from agent.observe.background import Background
from agent.observe.cost import CostTracker, read_cost_state
from agent.observe.ledger import Costs, Ledger, LedgerEntry, Sums, ledger_path
from agent.settings.load import Settings


class CostParts:
    """The parts; `accounting` takes each response."""

    def __init__(
        self, start: StartContext, used: ModelInUse, *, on_exceeded: Callable[[str], None]
    ) -> None:
        """The totals of `used` go on where a resumed session ended."""
        settings, resumed, totals = start.settings, start.resumed, used.totals
        self.warnings: list[str] = []
        self._path = ledger_path(start.environment.agent_home)
        self._session_id = start.session.id
        ledger = Ledger(self._path)
        self._entries = Background(ledger.add, name="costs")
        if resumed is not None:
            totals.usage = resumed.usage
            totals.cost_usd = resumed.cost_usd
            totals.context_tokens = resumed.context_tokens
        self.accounting = Accounting(
            totals,
            CostTracker(
                prices=self._prices(settings),
                state=read_cost_state(resumed.cost_by_model) if resumed else None,
            ),
            lambda: used.model,
            max_budget_usd=start.max_budget_usd(),
            on_exceeded=on_exceeded,
            add_to_ledger=self._add,
        )
        self.costs = Costs(lambda: self.accounting.costs.state, self._sums)

    async def aclose(self) -> None:
        """Write what is still to be written."""
        await asyncio.to_thread(self._entries.close)

    def _prices(self, settings: Settings) -> PriceTable:
        own = settings.values.prices
        try:
            return shipped_prices().with_overrides(own or {})
        except ValueError as error:
            self.warnings.append(f"Settings: {error}. The shipped prices count.")
            return shipped_prices()

    def _add(self, model: str, usd: float, usage: Usage) -> None:
        name = canonical_name(model)
        self._entries(LedgerEntry(self._session_id, date.today(), name, usd, usage))

    async def _sums(self) -> Sums:
        ledger = Ledger(self._path)
        return await asyncio.to_thread(ledger.sums, date.today())
