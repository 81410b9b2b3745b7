"""Usage and cost of a conversation, summed over its responses, and its budget."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from agent.events import Usage, UsageUpdate
from agent.observe.cost_tracker import CostTracker

AddToLedger = Callable[[str, float, Usage], None]
"""Takes the model, the cost in US dollars and the usage of one response."""


class Totals(Struct):
    """Usage of the conversation so far, including sub-agents."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    context_tokens: int = 0
    context_window: int = 200_000
    notice: str | None = None
    """A notice about costs for the user, which is reported once."""


class Accounting:
    """Adds responses to the totals of one conversation, including sub-agents."""

    def __init__(
        self,
        totals: Totals,
        costs: CostTracker,
        model: Callable[[], str],
        *,
        max_budget_usd: float | None,
        on_exceeded: Callable[[str], None],
        add_to_ledger: AddToLedger = lambda *_: None,
    ) -> None:
        """`model` returns the one in use; `on_exceeded` is called once, with the reason."""
        self._totals = totals
        self.costs = costs
        self._model = model
        self._max_budget_usd = max_budget_usd
        self._on_exceeded = on_exceeded
        self._add_to_ledger = add_to_ledger
        self._exceed_reason: str | None = None
        self._turn_id = ""
        self._has_warned = False

    def spent(self) -> str | None:
        """Return why no further request may be sent, or None."""
        limit = self._max_budget_usd
        if limit is not None and self._exceed_reason is None and self._totals.cost_usd >= limit:
            self._exceed_reason = (
                f"The budget of {_dollars(limit)} is used up (${self._totals.cost_usd:.4f} spent). "
                "Restart with a larger --max-budget-usd to continue."
            )
            self._on_exceeded(self._exceed_reason)
        return self._exceed_reason

    def account(
        self, usage: Usage, model: str, turn_id: str, agent_id: str | None = None
    ) -> UsageUpdate:
        """Add one response and return the event that reports it."""
        totals = self._totals
        if agent_id is None and turn_id != self._turn_id:
            self._turn_id = turn_id
            self._has_warned = False
            self.costs.begin_prompt()
        self.add_quietly(usage, model)
        if agent_id is None and usage.prompt_tokens:
            totals.context_tokens = usage.prompt_tokens + usage.output_tokens
        self.spent()
        return self._update(usage, turn_id, agent_id)

    def add_aside(
        self, usage: Usage, model: str, turn_id: str, agent_id: str | None = None
    ) -> UsageUpdate:
        """Add one response that is not part of a turn, such as a summary."""
        self.add_quietly(usage, model)
        self.spent()
        return self._update(usage, turn_id, agent_id)

    def _update(self, usage: Usage, turn_id: str, agent_id: str | None) -> UsageUpdate:
        totals = self._totals
        return UsageUpdate(
            turn_id,
            usage,
            totals.usage,
            totals.cost_usd,
            totals.context_tokens,
            totals.context_window,
            agent_id=agent_id,
        )

    def add_reported(self, usage: Usage, model: str, turn_id: str, agent_id: str) -> UsageUpdate:
        """Add the usage of another session for this one, which is in the ledger already."""
        self._add(usage, model)
        self.spent()
        return self._update(usage, turn_id, agent_id)

    def _add(self, usage: Usage, model: str) -> float:
        cost_usd = self.costs.add(model, usage)
        self._totals.usage = self._totals.usage + usage
        self._totals.cost_usd += cost_usd
        return cost_usd

    def add_quietly(self, usage: Usage, model: str) -> None:
        """Add one response that no event reports, such as an answer of the small model."""
        model_name = model or self._model()
        self._add_to_ledger(model_name, self._add(usage, model_name), usage)
        if not self._has_warned and self.costs.state.is_runaway():
            self._has_warned = True
            spent = self.costs.state.prompts_usd[-1]
            self._totals.notice = (
                f"This prompt has cost ${spent:.2f} so far, far more than usual. "
                "Interrupt it to stop; --max-budget-usd sets a limit."
            )


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if amount == round(amount, 2) else f"${amount:g}"
