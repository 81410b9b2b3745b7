"""Limits of an outcome that depend on what fired, not only on which event it was."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hooks.answers.outcome import EventOutcome


def limit_outcome(payload: Mapping[str, object], outcome: EventOutcome) -> EventOutcome:
    """Return the outcome without what this very payload does not honour."""
    source = payload.get("source")
    if outcome.event == "ConfigChange" and source == "policy_settings" and outcome.blocked:
        return replace(
            outcome,
            decision="none",
            proceeds=True,
            feedback_to=None,
            notices=(*outcome.notices, "ConfigChange: hooks cannot refuse managed settings"),
        )
    if outcome.session_title is not None and source in ("clear", "compact"):
        return replace(
            outcome,
            session_title=None,
            notices=(*outcome.notices, f"sessionTitle has no effect on {source}"),
        )
    return outcome
