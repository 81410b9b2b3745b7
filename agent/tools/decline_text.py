"""The model's result of a call that the user declined; screens recognise it by its start."""

from __future__ import annotations

from typing import Final

DECLINED: Final = "The user declined this call"
DECLINED_AND_STOPPED: Final = (
    f"{DECLINED} and stopped the turn. Wait for the user to say what to do instead."
)
_BEFORE_COMMENT: Final = f"{DECLINED}. It did not run. The user said:\n"


def declined_with(comment: str) -> str:
    """Return the result of a call that the user declined with a comment."""
    return f"{_BEFORE_COMMENT}{comment}"


def comment_in(result: str) -> str:
    """Return the user's comment in the result of a declined call; empty without one."""
    return result.removeprefix(_BEFORE_COMMENT) if result.startswith(_BEFORE_COMMENT) else ""
