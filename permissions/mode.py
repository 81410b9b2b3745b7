"""Permission modes: their names, who may ask for one, and the order of the cycle."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """The permission mode of a session; values as in settings files and flags."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    PLAN = "plan"
    DONT_ASK = "dontAsk"
    BYPASS = "bypassPermissions"
    AUTO = "auto"


_NAMES = {
    Mode.DEFAULT: "default mode",
    Mode.ACCEPT_EDITS: "accept edits mode (acceptEdits)",
    Mode.PLAN: "plan mode",
    Mode.DONT_ASK: "don't ask mode (dontAsk)",
    Mode.BYPASS: "bypass mode (bypassPermissions)",
    Mode.AUTO: "auto mode",
}


def mode_name(mode: Mode) -> str:
    """Return the name of a mode for users, with its spelling in settings."""
    return _NAMES[mode]


RAISED_MODES = frozenset({Mode.ACCEPT_EDITS, Mode.BYPASS, Mode.AUTO})
"""Modes that answer more calls without asking than `default` does."""


def parse_mode(text: str) -> Mode | None:
    """Return the mode spelled `text`, or None for an unknown one (callers fall back to default)."""
    try:
        return Mode(text)
    except ValueError:
        return None


def next_mode(mode: Mode, *, bypass_available: bool, auto_available: bool) -> Mode:
    """Return the mode that Shift+Tab selects next; unavailable modes are skipped."""
    if mode is Mode.DEFAULT:
        return Mode.ACCEPT_EDITS
    if mode is Mode.ACCEPT_EDITS:
        return Mode.PLAN
    if mode is Mode.PLAN and bypass_available:
        return Mode.BYPASS
    if mode in (Mode.PLAN, Mode.BYPASS) and auto_available:
        return Mode.AUTO
    return Mode.DEFAULT
