"""Result texts of calls that the user declined or interrupted; the screen parses them."""

from __future__ import annotations

from typing import Final

DECLINED: Final = "The user declined this call"
DECLINED_AND_STOPPED: Final = (
    f"{DECLINED} and stopped the turn. Wait for the user to say what to do instead."
)
PLAN_REJECTED: Final = "The user did not approve the plan; plan mode stays on."
INTERRUPTED: Final = "Interrupted by the user"
UNANSWERED: Final = "The user declined to answer."
_BEFORE_COMMENT: Final = f"{DECLINED}. It did not run. The user said:\n"
_BEFORE_PLAN_COMMENT: Final = f"{PLAN_REJECTED} They said:\n"


def declined_with(comment: str) -> str:
    """Return the result of a call that the user declined with a comment."""
    return f"{_BEFORE_COMMENT}{comment}"


def comment_in(result: str) -> str:
    """Return the user's comment in the result of a declined call; empty without one."""
    for lead in (_BEFORE_COMMENT, _BEFORE_PLAN_COMMENT):
        if result.startswith(lead):
            return result.removeprefix(lead)
    return ""


def plan_rejected_with(comment: str) -> str:
    """Return the result of a plan that the user rejected; the comment may be empty."""
    return f"{_BEFORE_PLAN_COMMENT}{comment}" if comment else PLAN_REJECTED
