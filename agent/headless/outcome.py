"""The outcome of a prompt, for its result line and the exit status.

The format is the one that client libraries read: a run that was stopped has `errors` and no
`result`; a failed request has the subtype `success` with `is_error`, the endpoint's status, and a
`result` that begins with "API Error". Next: `agent.headless.run`.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from agent.events import NO_REASON, ErrorEvent, Terminal
from agent.exit_status import (
    EXIT_COMPLETED,
    EXIT_DENIED,
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_REFUSAL,
)

FAILED: Final = "error_during_execution"
OVER_BUDGET: Final = "error_max_budget_usd"
_STATUS: Final = {
    "completed": EXIT_COMPLETED,
    "stop_hook_prevented": EXIT_COMPLETED,
    "max_turns": EXIT_LIMIT,
    "budget_exceeded": EXIT_LIMIT,
    "refusal": EXIT_REFUSAL,
    "error": EXIT_ERROR,
    "invalid_answer": EXIT_ERROR,
    "prompt_too_long": EXIT_ERROR,
    "aborted_streaming": EXIT_INTERRUPTED,
    "aborted_tools": EXIT_INTERRUPTED,
}
_STOPPED: Final = {
    "max_turns": "error_max_turns",
    "budget_exceeded": OVER_BUDGET,
    "invalid_answer": "error_max_structured_output_retries",
    "aborted_streaming": FAILED,
    "aborted_tools": FAILED,
}


_REASONS: Final = {
    "budget_exceeded": "budget_exhausted",
    "invalid_answer": "structured_output_retry_exhausted",
    "refusal": "completed",
    "error": "model_error",
}
"""Reasons that have another name in the format of client libraries."""


class Outcome(Struct, frozen=True):
    """The outcome of one prompt."""

    status: int
    """The exit status of the program for it."""
    subtype: str = "success"
    is_error: bool = False
    text: str = ""
    """The value of `result`, which is absent if there are `errors`."""
    errors: tuple[str, ...] = ()
    api_status: int | None = None
    """HTTP status of the failed request; None without a response."""
    api_error: str = ""
    """The kind of failure (`agent.recovery.classify`) if a failed request ended it, else empty."""

    def fields(self) -> dict[str, object]:
        """Return the fields of a result line for this outcome."""
        line: dict[str, object] = {"subtype": self.subtype, "is_error": self.is_error}
        if self.errors:
            return line | {"errors": list(self.errors)}
        return line | {"api_error_status": self.api_status, "result": self.text}


def terminal_reason(terminal: Terminal, outcome: Outcome) -> str:
    """Return why a prompt ended, as client libraries name it."""
    if outcome.subtype == OVER_BUDGET:
        return "budget_exhausted"
    if terminal.reason == "error" and outcome.api_error:
        return "api_error"
    return _REASONS.get(terminal.reason, terminal.reason)


def stop_outcome(reason: str, subtype: str = FAILED, status: int = EXIT_ERROR) -> Outcome:
    """Return the outcome of a prompt or run that ended without an answer."""
    return Outcome(status, subtype, True, errors=(reason,))


def outcome_of(
    terminal: Terminal,
    answer: str,
    failure: ErrorEvent | None,
    *,
    denied_without_user: bool,
    exceeded_budget: str | None = None,
) -> Outcome:
    """Return the outcome of a prompt; `failure` is the error that ended it, if one did.

    `exceeded_budget` is why no further request may be sent, or None.
    """
    status = _STATUS[terminal.reason]
    if terminal.is_refused:
        # Nothing was done: an empty answer must not look successful to a script.
        return stop_outcome(terminal.detail)
    if (subtype := _STOPPED.get(terminal.reason)) is not None:
        return stop_outcome(terminal.detail or "The run was interrupted.", subtype, status)
    if status == EXIT_ERROR:
        text = failure.message if failure is not None else terminal.detail
        if failure is None or failure.kind == "internal":
            return stop_outcome(text or "The run failed.")
        return _api_error(text, failure.kind, failure.status)
    if status == EXIT_REFUSAL:
        reason = "" if terminal.detail == NO_REASON else f": {terminal.detail}"
        text = f"{answer}\n\nThe model declined to answer{reason}.".lstrip()
        return Outcome(status, is_error=True, text=text)
    if status == EXIT_COMPLETED and exceeded_budget is not None:
        return stop_outcome(exceeded_budget, OVER_BUDGET, EXIT_LIMIT)
    if status == EXIT_COMPLETED and denied_without_user:
        status = EXIT_DENIED
    return Outcome(status, text=answer)


def _api_error(text: str, kind: str, status: int | None) -> Outcome:
    number = ""
    if status is not None:
        number, text = f"{status} ", text.replace(f" (HTTP {status})", "")
    return Outcome(
        EXIT_ERROR,
        is_error=True,
        text=f"API Error: {number}{text}",
        api_status=status,
        api_error=kind or "unknown",
    )
