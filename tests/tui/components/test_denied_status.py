"""The status line says when the classifier keeps denying, and that the person decides then."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.denials import DenialState
from permissions.mode import Mode
from tui.components.status_line import Status, status_row

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
def test_the_row_of_denials_is_told(decisions: list[Decision], said: str) -> None:
    state = DenialState()
    for decision in decisions:
        state = state.after(decision)
    assert state.short == said
    shown = "".join(
        text for text, _ in status_row(Status(mode=Mode.AUTO, denied=state.short), 80).runs
    )
    assert said in shown
    assert ("denied" in shown) == bool(said)
