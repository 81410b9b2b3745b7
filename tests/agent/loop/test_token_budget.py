"""The token budget: 90 percent, and three checks in a row that bring less than 500 tokens."""

from __future__ import annotations

from agent.loop.token_budget import BudgetTracker, ContinueBudget, StopBudget, check_token_budget


def totals(tracker: BudgetTracker, *values: int) -> list[object]:
    verdicts: list[object] = []
    for value in values:
        verdict = check_token_budget(tracker, value)
        verdicts.append(verdict)
        if isinstance(verdict, ContinueBudget):
            tracker = verdict.tracker
    return verdicts


def test_it_stops_at_ninety_percent() -> None:
    below, at = totals(BudgetTracker(10_000), 8_999, 9_000)
    assert isinstance(below, ContinueBudget)
    assert at == StopBudget(is_diminishing=False)


def test_it_stops_when_continuing_brings_little() -> None:
    verdicts = totals(BudgetTracker(100_000), 5_000, 6_000, 6_400, 6_800)
    assert all(isinstance(v, ContinueBudget) for v in verdicts[:3])
    assert verdicts[3] == StopBudget(is_diminishing=True)


def test_a_good_step_resets_the_judgement() -> None:
    verdicts = totals(BudgetTracker(100_000), 5_000, 5_400, 9_000, 9_100, 9_200)
    assert isinstance(verdicts[3], ContinueBudget)
    assert verdicts[4] == StopBudget(is_diminishing=True)


def test_the_nudge_says_how_much_is_used() -> None:
    verdict = check_token_budget(BudgetTracker(1_000), 250)
    assert isinstance(verdict, ContinueBudget)
    assert "25%" in verdict.nudge
