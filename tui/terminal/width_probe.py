"""How wide the terminal draws an emoji of several code points and a flag: drawn once, and asked.

In the second and third row, since a report of the first one looks like a function key. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_FAMILY: Final = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
_FLAG: Final = "\U0001f1ef\U0001f1f5"
PROBE: Final = (
    # Concealed, erased at once, and the cursor goes back: nothing of it is seen.
    f"\x1b7\x1b[8m\x1b[2;1H{_FAMILY}\x1b[6n\x1b[2K\x1b[3;1H{_FLAG}\x1b[6n\x1b[2K\x1b[m\x1b8"
)
"""To be written before the first frame, on a screen with blank rows there."""
_REPORT: Final = r"\x1b\[([23]);(\d+)R"
_TWO_CELLS: Final = 3
"""The column after two cells."""


class DrawnWidth(Struct, frozen=True):
    """What a report says of one of the two."""

    is_flag: bool
    is_joined: bool
    """Whether it took two cells, as its cluster does."""


def width_from_reply(text: str) -> DrawnWidth | None:
    """Return what a reply of the terminal says of a width; None for other replies."""
    match = re.fullmatch(_REPORT, text)
    return DrawnWidth(match[1] == "3", int(match[2]) == _TWO_CELLS) if match else None
