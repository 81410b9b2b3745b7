"""Why a running call was stopped: by the user, or by a call of the same round that failed."""

from __future__ import annotations

from typing import Final

from agent.abort import AbortSignal
from agent.tools.decline_text import INTERRUPTED

_SIBLING_FAILED: Final = "a call in the same round failed: "


def sibling_failed(identifier: str) -> str:
    """Return the abort reason for the siblings of a call that failed."""
    return f"{_SIBLING_FAILED}{identifier}"


def failed_sibling(abort: AbortSignal) -> str | None:
    """Return which sibling stopped the call, as a clause; None if the user did."""
    reason = abort.reason or ""
    return reason if reason.startswith(_SIBLING_FAILED) else None


def interruption_cause(abort: AbortSignal) -> str:
    """Return what stopped a call, as the last words of a sentence for the model."""
    sibling = failed_sibling(abort)
    return "by the user" if sibling is None else f"because {sibling}"


def interrupted_text(abort: AbortSignal) -> str:
    """Return the result text for a call that was stopped."""
    if (sibling := failed_sibling(abort)) is not None:
        return f"Stopped, because {sibling}. Call it again if it is still needed."
    return f"{INTERRUPTED}. Whether it had an effect is not known; check before repeating."
