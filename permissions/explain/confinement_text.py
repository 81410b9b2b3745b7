"""What an allowed call is limited to, in words."""

from __future__ import annotations

from typing import Final

from permissions.confinement import Confinement
from permissions.decision import Decision


def confinement_words(decision: Decision) -> str:
    """Return what the operating system limits an allowed call to; "" for one that is not."""
    if decision.confinement is None:
        return ""
    words = _CONFINED_TO[decision.confinement]
    is_enforced = all(entry.is_enforceable is not False for entry in decision.trace)
    return words if is_enforced else f"{words} (this machine does not enforce all of it: /sandbox)"


_CONFINED_TO: Final = {
    Confinement.READ_ONLY: "to reading: it can write to this session's temporary folder alone, "
    "without network",
    Confinement.PROJECT: "to your folders, protected files excluded, and to hosts that are allowed",
    Confinement.PROJECT_FILES: "to your folders, protected files excluded, and package caches; "
    "the network is open",
    Confinement.NONE: "not at all: it can do everything you can",
}
