"""Probes how wide the terminal draws a family, a skin tone and a flag emoji. Pure.

It uses the second and third row, because a cursor report of the first row looks like F3.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

_FAMILY: Final = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
_TONE: Final = "\U0001f44d\U0001f3fd"
_FLAG: Final = "\U0001f1ef\U0001f1f5"
PROBE: Final = (
    # Concealed, erased at once, and the cursor is restored, so that nothing is visible.
    f"\x1b7\x1b[8m\x1b[2;1H{_FAMILY}\x1b[6n\x1b[2;11H{_TONE}\x1b[6n\x1b[2K"
    f"\x1b[3;1H{_FLAG}\x1b[6n\x1b[2K\x1b[m\x1b8"
)
"""To be written before the first frame, while the second and third row are blank."""
_REPORT: Final = r"\x1b\[([23]);(\d+)R"
_TONE_COLUMN: Final = 11
_TWO_CELLS: Final = (3, _TONE_COLUMN + 2)
"""The columns in which the cursor is after two cells."""


class DrawnWidth(Struct, frozen=True):
    """The drawn width of one of the three, from a report."""

    what: Literal["family", "tone", "flag"]
    is_joined: bool
    """Whether it occupied two cells, as one cluster."""


def width_from_reply(text: str) -> DrawnWidth | None:
    """Return the width from a reply of the terminal; None for other replies."""
    match = re.fullmatch(_REPORT, text)
    if match is None:
        return None
    column = int(match[2])
    what: Literal["family", "tone"] = "tone" if column >= _TONE_COLUMN else "family"
    return DrawnWidth("flag" if match[1] == "3" else what, column in _TWO_CELLS)
