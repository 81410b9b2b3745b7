"""Whether the terminal's background is dark: asked, read from a variable, or remembered. Pure.

Forms: the answer to OSC 11 as xterm gives it; the color scheme report of mode 2031 (contour,
kitty, Ghostty, VTE), which only reports that something changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

ASK: Final = "\x1b]11;?\x1b\\"
FOLLOW: Final = "\x1b[?2031h"
"""Request reports of changes of the terminal's colors."""
UNFOLLOW: Final = "\x1b[?2031l"
# Compiled with the first answer, not with the first frame.
_CHANGED: Final = r"\x1b\[\?997;[12]n"
_COLOR: Final = (
    r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})"
    r"(?:/[0-9a-fA-F]{1,4})?(?:\x1b\\|\x07)"
)
_MIDDLE: Final = 0.5
_DARK_INDEXES: Final = frozenset({"0", "1", "2", "3", "4", "5", "6", "8"})
"""Of the sixteen colors those that a light text is read on; from vim's and Emacs's reading."""


def dark_from_reply(text: str) -> bool | None:
    """Return the background that a reply of the terminal reports; None for other replies."""
    match = re.fullmatch(_COLOR, text)
    if match is None:
        return None
    red, green, blue = (int(part, 16) / (int("f" * len(part), 16)) for part in match.groups())
    return 0.299 * red + 0.587 * green + 0.114 * blue < _MIDDLE


def is_color_change(text: str) -> bool:
    """Whether a reply reports that the colors have changed."""
    return re.fullmatch(_CHANGED, text) is not None


def has_few_colors(env: Mapping[str, str]) -> bool:
    """Whether the terminal has sixteen colors at most, as Rich reads the environment."""
    term = env.get("TERM", "").lower()
    if not term or env.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return False
    return term.rpartition("-")[2] not in {"256color", "kitty"}


def dark_from_environment(env: Mapping[str, str]) -> bool | None:
    """Return the background by `COLORFGBG` (`15;0` is light on dark); None where it names none."""
    _, _, background = env.get("COLORFGBG", "").rpartition(";")
    if not background.isdecimal():
        return None
    return background in _DARK_INDEXES
