"""Names of keys: as users write them ("Cmd+K", "ctrl+x ctrl+e") and as Textual reports them.

Grammar: modifiers joined by "+" before one key; a lone capital letter implies shift; the keys of
a chord are separated by spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual.keys import KEY_NAME_REPLACEMENTS

Chord = tuple[str, ...]
"""Canonical names of the keys of one binding, in the order pressed; never empty."""

_MODIFIERS: Final = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "shift": "shift",
    "alt": "alt",
    "opt": "alt",
    "option": "alt",
    "meta": "alt",
    "cmd": "super",
    "command": "super",
    "super": "super",
    "win": "super",
}
_ORDER: Final = ("alt", "ctrl", "shift", "super")

_SPECIAL: Final = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "page_up": "pageup",
    "page_down": "pagedown",
    "pgup": "pageup",
    "pgdn": "pagedown",
}
_SHORT: Final = {
    "super": "cmd",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "delete": "del",
}
"""Names as hints write them."""
_NAMED: Final = frozenset(
    {"escape", "enter", "tab", "space", "up", "down", "left", "right", "backspace", "delete"}
    | {"insert", "home", "end", "pageup", "pagedown", "capslock", "caps_lock"}
    | {f"f{number}" for number in range(1, 25)}
)

_CHARACTER_NAMES: Final = {
    "ampersand": "&", "apostrophe": "'", "asterisk": "*", "at": "@", "backslash": "\\",
    "circumflex_accent": "^", "colon": ":", "comma": ",", "dollar_sign": "$",
    "equals_sign": "=", "exclamation_mark": "!", "full_stop": ".", "grave_accent": "`",
    "greater_than_sign": ">", "left_curly_bracket": "{", "left_parenthesis": "(",
    "left_square_bracket": "[", "less_than_sign": "<", "minus": "-", "number_sign": "#",
    "percent_sign": "%", "plus": "+", "question_mark": "?", "quotation_mark": '"',
    "right_curly_bracket": "}", "right_parenthesis": ")", "right_square_bracket": "]",
    "semicolon": ";", "slash": "/", "tilde": "~", "underscore": "_", "vertical_line": "|",
}  # fmt: skip

# Terminals send both keys of a pair as the same byte, which Textual reports under the right name.
_SAME_BYTE: Final = {
    "ctrl+m": "enter",
    "ctrl+i": "tab",
    "ctrl+[": "escape",
    "ctrl+shift+-": "ctrl+_",
    "ctrl+/": "ctrl+_",
}


class KeySyntaxError(ValueError):
    """A key's name cannot be parsed."""


def parse_chord(text: str) -> Chord:
    """Return the canonical names of a binding such as "ctrl+x ctrl+e".

    Raises:
        KeySyntaxError: the text is empty, or not modifiers followed by one key.
    """
    names = tuple(parse_key(part) for part in text.split())
    if not names:
        raise KeySyntaxError("no key given")
    return names


def parse_key(text: str) -> str:
    """Return the canonical name of one key: modifiers in a fixed order, then the key.

    Raises:
        KeySyntaxError: an unknown modifier or key name.
    """
    *modifier_names, key = _split(text)
    modifiers: set[str] = set()
    for name in modifier_names:
        modifier = _MODIFIERS.get(name.lower())
        if modifier is None:
            raise KeySyntaxError(f"{name!r} in {text!r} is not a modifier")
        modifiers.add(modifier)
    return _canonical(modifiers, key, text)


def canonical_key(textual_key: str) -> str:
    """Return the canonical name of a key that Textual reported ("upper_a", "ctrl+underscore")."""
    *modifiers, key = textual_key.split("+") if textual_key != "+" else ["+"]
    key = KEY_NAME_REPLACEMENTS.get(key, key)
    if key.startswith("upper_") and len(key) == len("upper_") + 1:
        key = key[-1].upper()
    key = _CHARACTER_NAMES.get(key, key)
    modifier_names = {_MODIFIERS.get(name, name) for name in modifiers}
    try:
        return _canonical(modifier_names, key, textual_key)
    except KeySyntaxError:
        return textual_key


def display_chord(chord: Chord) -> str:
    """Return a binding as every hint on the screen writes it: "shift+tab", "esc", "ctrl+x y".

    In lower case: a capital would mean Shift.
    """
    return " ".join(_display_key(key) for key in chord)


def multiplexer_key(env: Mapping[str, str]) -> str:
    """Return the prefix key of the terminal multiplexer that we run in; "" without one."""
    return "ctrl+b" if env.get("TMUX") else "ctrl+a" if env.get("STY") else ""


def _split(text: str) -> list[str]:
    if text.endswith("++"):
        return [*text[:-2].split("+"), "+"]
    return [text] if text == "+" else text.split("+")


def _canonical(modifiers: set[str], key: str, spelling: str) -> str:
    if len(key) == 1:
        if key.isalpha() and key.isupper():
            # With a modifier a capital is only the way users write it: "Ctrl+K".
            modifiers = modifiers or {"shift"}
            key = key.lower()
        elif key == " ":
            key = "space"
    else:
        key = _SPECIAL.get(key.lower(), key.lower())
        key = _CHARACTER_NAMES.get(key, key)
        if len(key) > 1 and key not in _NAMED:
            raise KeySyntaxError(f"{key!r} in {spelling!r} is not a key")
    if not key:
        raise KeySyntaxError(f"{spelling!r} does not name a key")
    name = "+".join([*(modifier for modifier in _ORDER if modifier in modifiers), key])
    return _SAME_BYTE.get(name, name)


def _display_key(key: str) -> str:
    *modifiers, last = _split(key)
    return "+".join(_SHORT.get(part, part) for part in (*modifiers, last))
