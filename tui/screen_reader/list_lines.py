"""Applies typed lines to a list: its keys, paging, searching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.input.actions import ACTIONS_BY_ID
from tui.panels.list_panel import ListPanel

_PAGES: Final = {"more": "pagedown", "back": "pageup", "first": "home", "last": "end"}
_NAMES: Final = {"del ": "delete ", "←→": "left and right", "↑↓": "up and down"}
_KNOWN: Final = ("type to search", "/ search", "up and down", "esc", "enter")
"""Beginnings of hints that every list has, or that are keys of the drawn screen."""


def press_own_key(panel: ListPanel, text: str) -> bool:
    """Press one of the list's keys, or page in it; False if the line names neither."""
    if (page := _PAGES.get(text.casefold())) is not None:
        panel.press(page, "", None)
        return True
    own_key = _own_keys(panel).get(text) or _own_keys(panel).get(text.casefold())
    if own_key is None:
        return False
    key, action_id = own_key
    panel.press(key, key if len(key) == 1 and not panel.is_searching else "", action_id)
    return True


def search(panel: ListPanel, text: str) -> None:
    """Replace the list's search text."""
    panel.press("ctrl+u", "", None)
    panel.paste(text)


def list_hint(panel: ListPanel) -> str:
    """Return a hint for users: which part of the list was read, and what can be typed."""
    first, last, count = panel.shown_range
    if not count and panel.is_searching:
        return "Type other words to search, or esc."
    parts: list[str] = []
    for part in panel.hint.split(" · "):
        for short, name in _NAMES.items():
            part = part.replace(short, name)
        if not part.startswith(_KNOWN):
            parts.append(part)
    keys = [
        word
        for word, (key, action_id) in _own_keys(panel).items()
        if (action_id or key) in panel.item_keys and any(p.split(" ")[0] == word for p in parts)
    ]
    sentences = [f"{first} to {last} of {count}." if count > last - first + 1 else ""]
    sentences.append("Type a number to choose,")
    sentences += [f"{part}," for part in parts]
    if keys:
        sentences.append(f"a number and a key for another line, such as 1 {keys[0]},")
    sentences.append("more or back for other lines," if count > last - first + 1 else "")
    sentences.append("words to search, or esc.")
    return " ".join(part for part in sentences if part)


def _own_keys(panel: ListPanel) -> Mapping[str, tuple[str, str | None]]:
    """Return the words that can be typed, each with its key and action id."""
    keys: dict[str, tuple[str, str | None]] = {}
    for key in sorted(panel.keys):
        action = ACTIONS_BY_ID.get(key)
        if action is None:
            keys[key] = (key, None)
        elif action.keys:
            keys[action.keys[0]] = (action.keys[0], key)
    return keys
