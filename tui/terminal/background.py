"""Whether the terminal's background is dark, from its replies or the environment. Pure.

Replies: that to OSC 11 in xterm's form; and the color scheme report of mode 2031 (contour, kitty,
Ghostty, VTE), which tells only that the colors have changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

ASK: Final = "\x1b]11;?\x1b\\"
FOLLOW: Final = "\x1b[?2031h"
"""Requests reports of changes of the terminal's colors."""
UNFOLLOW: Final = "\x1b[?2031l"
# Compiled with the first reply, not with the first frame.
_CHANGED: Final = r"\x1b\[\?997;[12]n"
_COLOR: Final = (
    r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})"
    r"(?:/[0-9a-fA-F]{1,4})?(?:\x1b\\|\x07)"
)
_MIDDLE: Final = 0.5
_DARK_INDEXES: Final = frozenset({"0", "1", "2", "3", "4", "5", "6", "8"})
"""The dark ones of the sixteen colors, as in vim and Emacs."""


def dark_from_reply(text: str) -> bool | None:
    """Return whether the background in a reply of the terminal is dark; None for other replies."""
    match = re.fullmatch(_COLOR, text)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / (int("f" * len(part), 16)) for part in match.groups())
    return 0.299 * red + 0.587 * green + 0.114 * blue < _MIDDLE


def is_color_change(text: str) -> bool:
    """Whether a reply reports that the colors have changed."""
    return re.fullmatch(_CHANGED, text) is not None


def color_count(env: Mapping[str, str]) -> int:
    """Return how many colors the terminal has, as Rich reads the environment: 16, 256 or 2**24."""
    term = env.get("TERM", "").lower()
    if not term or env.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return 2**24
    return 256 if term.rpartition("-")[2] in {"256color", "kitty"} else 16


def dark_from_environment(env: Mapping[str, str]) -> bool | None:
    """Return whether `COLORFGBG` has a dark background, as `15;0` has; None if it has none."""
    _, _, background = env.get("COLORFGBG", "").rpartition(";")
    if not background.isdecimal():
        return None
    return background in _DARK_INDEXES
