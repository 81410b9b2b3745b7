"""Texts about the exit status of a command."""

from __future__ import annotations

import signal
from typing import Final

from permissions.base.text.late_pattern import compile_late

# Simple commands whose exit status 1 is a result, not a failure.
_ANSWERING: Final = {
    "grep": "no match",
    "egrep": "no match",
    "fgrep": "no match",
    "rg": "no match",
    "diff": "the files differ",
    "cmp": "the files differ",
    "test": "the condition is false",
    "[": "the condition is false",
}
_COMPOUND: Final = compile_late(r"[;&|\n`(){}<>]")


def status_text(exit_code: int | None, meaning: str | None) -> str:
    """Return how a command ended; empty if it succeeded."""
    if exit_code is None or exit_code == 0:
        return ""
    if exit_code < 0:
        return f"Ended by signal {-exit_code} ({_signal_name(-exit_code)})."
    status = f"Exit code {exit_code}"
    if meaning:
        return f"{status} ({meaning})."
    if exit_code > 128 and _signal_name(exit_code - 128):
        return f"{status} ({_signal_name(exit_code - 128)})."
    return f"{status}."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def meaning_of(command: str, exit_code: int | None) -> str | None:
    """Return what exit status 1 means for commands where it is not a failure, else None."""
    if exit_code != 1 or _COMPOUND.search(command):
        return None
    return _ANSWERING.get(command.split(maxsplit=1)[0])
