"""Why a call was denied, as it is kept for the picture after a resume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType


def denial_to_json(decision: Decision) -> dict[str, Any]:
    """Return what a card of the call shows, and who said it."""
    return {
        "source": str(decision.source),
        "reason_type": str(decision.reason_type),
        "reason": str(decision.reason),
        "message": decision.message,
        "feedback": decision.feedback,
    }


def denial_from_json(data: Mapping[str, Any] | None) -> Decision | None:
    """Return the decision without its trace; None for what is none, or from a later version."""
    if not isinstance(data, Mapping):
        return None
    message, feedback = data.get("message"), data.get("feedback")
    if not isinstance(message, str) or not isinstance(feedback, str | None):
        return None
    try:
        return Decision(
            Behavior.DENY,
            DecisionSource(str(data.get("source"))),
            ReasonType(str(data.get("reason_type"))),
            Reason(str(data.get("reason"))),
            message,
            feedback=feedback,
        )
    except ValueError:
        return None
