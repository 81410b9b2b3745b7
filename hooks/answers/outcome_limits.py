"""Limits of an outcome beyond its event's row: by payload, and on consecutive continuations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from hooks.answers.outcome import EventOutcome
from hooks.answers.response import first_line

CAP_VARIABLE: Final = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
DEFAULT_CAP: Final = 8


def limit_outcome(payload: Mapping[str, object], outcome: EventOutcome) -> EventOutcome:
    """Return the outcome without effects that this payload does not honor."""
    source = payload.get("source")
    if outcome.event == "ConfigChange" and source == "policy_settings" and outcome.is_blocked:
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


class StopCap:
    """Counts continuations in a row, per agent; a new prompt or an actual stop resets the count."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env` may set another cap; 0 means no cap."""
        try:
            self._cap = int(env.get(CAP_VARIABLE, DEFAULT_CAP))
        except ValueError:
            self._cap = DEFAULT_CAP
        self._counts: dict[object, int] = {}

    def is_active(self, payload: Mapping[str, object]) -> bool:
        """Whether a stop hook already made this turn continue."""
        return self._counts.get(payload.get("agent_id"), 0) > 0

    def reset(self, agent_id: object = None) -> None:
        """Reset the count of one agent."""
        self._counts.pop(agent_id, None)

    def count(self, payload: Mapping[str, object], outcome: EventOutcome) -> EventOutcome:
        """Count a stop, and let it happen when hooks prevented it too often in a row."""
        agent_id = payload.get("agent_id")
        if outcome.proceeds is not False:
            self._counts.pop(agent_id, None)
            return outcome
        count = self._counts.get(agent_id, 0) + 1
        if 0 < self._cap < count:
            self._counts.pop(agent_id, None)
            notice = (
                f"{outcome.event} hooks made the agent continue {self._cap} times in a row; "
                f"the turn ends now (set {CAP_VARIABLE} to change the cap)"
            )
            return replace(
                outcome,
                decision="none",
                proceeds=True,
                feedback_to="user",
                notices=(*outcome.notices, notice),
            )
        self._counts[agent_id] = count
        of = f" of at most {self._cap}" if self._cap > 0 else ""
        why = first_line(outcome.reason or outcome.additional_context or "")
        notice = f"{outcome.event} hook makes the agent continue (continuation {count}{of}): {why}"
        return replace(outcome, notices=(*outcome.notices, notice))
