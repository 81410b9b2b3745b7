"""Denial tracking: a classifier that denies repeatedly hands over to the user."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from permissions.decision import Behavior, Decision, DecisionSource, TraceStep

MAX_CONSECUTIVE_DENIALS: Final = 3
MAX_TOTAL_DENIALS: Final = 20


class DenialState(Struct, frozen=True):
    """Classifier denials of one session."""

    consecutive: int = 0
    total: int = 0
    """Never resets within a session."""

    @property
    def is_exhausted(self) -> bool:
        """Whether the classifier is skipped and the dialog asked instead."""
        return self.consecutive >= MAX_CONSECUTIVE_DENIALS or self.total >= MAX_TOTAL_DENIALS

    def with_decision(self, decision: Decision) -> DenialState:
        """Return the state after one final decision.

        An allow or an unsure classifier resets the consecutive count; a user's deny changes
        nothing.
        """
        if decision.behavior is Behavior.ALLOW or _was_unsure(decision):
            return replace(self, consecutive=0)
        if decision.source is DecisionSource.CLASSIFIER:
            return DenialState(self.consecutive + 1, self.total + 1)
        return self

    @property
    def short(self) -> str:
        """The state for the status line; empty without consecutive denials."""
        if self.is_exhausted:
            return f"{self.total} denied: you decide"
        return f"{self.consecutive} denied in a row" if self.consecutive else ""

    def describe(self) -> str:
        """Return the state in words for the trace and the status line; empty when nothing was
        denied."""
        if not self.total:
            return ""
        text = f"classifier denials: {self.consecutive} in a row, {self.total} in all"
        return f"{text}; the user is asked instead" if self.is_exhausted else text


def _was_unsure(decision: Decision) -> bool:
    return any(
        entry.step is TraceStep.CLASSIFIER and entry.answer == "ask" for entry in decision.trace
    )
