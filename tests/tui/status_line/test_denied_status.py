"""The status line says when the classifier keeps denying, and what runs in the background."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.mode import Mode
from permissions.resolve.denial_limits import DenialState
from tui.status_line.status_widget import StatusLineState, status_row

DENIED = Decision(
    Behavior.DENY, DecisionSource.CLASSIFIER, ReasonType.CLASSIFIER, Reason.CLASSIFIER, "no"
)
ALLOWED = Decision(Behavior.ALLOW, DecisionSource.USER, ReasonType.USER, Reason.USER, "yes")


@pytest.mark.parametrize(
    ("decisions", "said"),
    [
        ([], ""),
        ([DENIED], "1 denied in a row"),
        ([DENIED, DENIED, DENIED], "3 denied: you decide"),
        ([DENIED, DENIED, ALLOWED], ""),
        ([DENIED, ALLOWED] * 20, "20 denied: you decide"),
    ],
)
def test_the_row_of_denials_is_reported(decisions: list[Decision], said: str) -> None:
    state = DenialState()
    for decision in decisions:
        state = state.with_decision(decision)
    assert state.short == said
    shown = "".join(
        text
        for text, _ in status_row(StatusLineState(mode=Mode.AUTO, denials=state.short), 80).runs
    )
    assert said in shown
    assert ("denied" in shown) == bool(said)


def test_commands_in_the_background_are_counted() -> None:
    def shown(running: int, width: int) -> str:
        return status_row(StatusLineState(running=running, model="m"), width).text

    assert " 2 in background" in shown(2, 80)
    assert "background" not in shown(0, 80)
    assert "background" not in shown(2, 30)
