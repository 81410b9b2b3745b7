"""How wide the terminal draws a family, a skin tone and a flag: drawn once, and asked.

In the second and third row, since a report of the first one looks like a function key. Pure.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

_FAMILY: Final = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
_TONE: Final = "\U0001f44d\U0001f3fd"
_FLAG: Final = "\U0001f1ef\U0001f1f5"
PROBE: Final = (
    # Concealed, erased at once, and the cursor goes back: nothing of it is seen.
    f"\x1b7\x1b[8m\x1b[2;1H{_FAMILY}\x1b[6n\x1b[2;11H{_TONE}\x1b[6n\x1b[2K"
    f"\x1b[3;1H{_FLAG}\x1b[6n\x1b[2K\x1b[m\x1b8"
)
"""To be written before the first frame, on a screen with blank rows there."""
_REPORT: Final = r"\x1b\[([23]);(\d+)R"
_TONE_COLUMN: Final = 11
_TWO_CELLS: Final = (3, _TONE_COLUMN + 2)
"""The columns after two cells."""


class DrawnWidth(Struct, frozen=True):
    """What a report says of one of the three."""

    what: Literal["family", "tone", "flag"]
    is_joined: bool
    """Whether it took two cells, as its cluster does."""


def width_from_reply(text: str) -> DrawnWidth | None:
    """Return what a reply of the terminal says of a width; None for other replies."""
    match = re.fullmatch(_REPORT, text)
    if match is None:
        return None
    column = int(match[2])
    what: Literal["family", "tone"] = "tone" if column >= _TONE_COLUMN else "family"
    return DrawnWidth("flag" if match[1] == "3" else what, column in _TWO_CELLS)
