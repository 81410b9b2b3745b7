"""The keys that a dialog's hint names, as words that can be typed. Pure.

The hint is the last row of the drawn dialog: `↑↓ enter · h hunks · esc reject`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from permissions.base.text.late_pattern import compile_late
from tui.dialogs.dialog import Dialog, key_handling_of
from tui.input.actions import ACTIONS

_WIDTH_CELLS: Final = 1_000
_PART: Final = compile_late(r"((?:ctrl|alt)\+\w|shift\+tab|[a-z]) (.+)")
_ONLY_DRAWN: Final = frozenset({"confirm:editHere"})
"""Actions that need the drawn editor; in lines, `edit` and the new text do the same."""


def hinted_keys(dialog: Dialog) -> Mapping[str, str]:
    """Return the keys that the hint names, each with its effect; empty without a hint."""
    keys: dict[str, str] = {}
    for row in dialog.view(_WIDTH_CELLS).footer:
        if row.choice is None and row.is_optional:
            for part in row.row.text.split(" · "):
                match = _PART.fullmatch(part.strip())
                if match is not None and action_of(dialog, match[1]) not in _ONLY_DRAWN:
                    keys[match[1]] = match[2]
    return keys


def press_hinted(dialog: Dialog, word: str) -> bool:
    """Press a key that the hint names; False for any other word."""
    if word not in hinted_keys(dialog):
        return False
    dialog.press(word, word if len(word) == 1 else "", action_of(dialog, word))
    return True


def action_of(dialog: Dialog, key: str) -> str | None:
    """Return the action of a key in the default keymap; None without one."""
    for context in key_handling_of(dialog).contexts:
        for action in ACTIONS:
            if action.context is context and key in action.keys:
                return action.id
    return None
