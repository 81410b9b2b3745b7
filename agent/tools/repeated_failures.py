"""Stop a call that has failed twice from running a third time: ask the user, or tell the model.

Small models repeat a failing call until the turn's limit. A success in between may have changed the
outcome, so it resets the count. Denials by rules, hooks and users do not count: they are decided
again each time.
"""

from __future__ import annotations

import json
from typing import Final

from agent.abort import AbortSignal
from agent.messages import ToolUse
from agent.tools.services import AskUser, Question, QuestionOption

FAILURES_BEFORE_QUESTION: Final = 2
AGAIN: Final = "Run it again"
DIFFERENTLY: Final = "Try something else"
_FAILED: Final = frozenset({"failed", "invalid"})
_REFUSAL: Final = (
    "Not run: this very call has failed {count} times, and nothing has changed since. Do something "
    "else, or say what is in the way."
)


class RepeatedFailures:
    """The failing calls of one agent since the last one that succeeded."""

    def __init__(self) -> None:
        """Start without failures."""
        self._counts: dict[str, int] = {}

    def note(self, use: ToolUse, outcome: str) -> None:
        """Count the outcome of a call."""
        if outcome == "ok":
            self._counts.clear()
        elif outcome in _FAILED:
            key = _key(use)
            self._counts[key] = self._counts.get(key, 0) + 1

    async def refusal(
        self, use: ToolUse, identifier: str, user: AskUser | None, abort: AbortSignal
    ) -> str | None:
        """Return why a call must not run, for the model; None if it may run.

        `identifier` describes the call in one line, for the question to the user.
        """
        count = self._counts.get(_key(use), 0)
        if count < FAILURES_BEFORE_QUESTION:
            return None
        if user is None:
            return _REFUSAL.format(count=count)
        question = Question(
            f"The same call has failed {count} times: {identifier}\nRun it again?",
            "Repeated",
            (QuestionOption(AGAIN), QuestionOption(DIFFERENTLY)),
        )
        answers = await user.ask((question,), abort)
        answer = (answers or {}).get(question.question, "")
        if answer == AGAIN:
            self._counts.pop(_key(use), None)
            return None
        comment = f" The user says: {answer}" if answer and answer != DIFFERENTLY else ""
        return _REFUSAL.format(count=count) + comment


def _key(use: ToolUse) -> str:
    return json.dumps([use.name, use.input, use.invalid_json], sort_keys=True, default=str)
