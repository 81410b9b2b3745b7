"""Whether and how the terminal shows images, from its replies to a query at the start. Pure.

kitty and Ghostty place images by Unicode placeholders of kitty's graphics protocol; other terminals
that support a part of that protocol do not, so the name decides. For sixel, attribute 4 of the
device attributes decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

ImageKind = Literal["", "kitty", "sixel"]

QUERY: Final = "\x1b[>q\x1b[16t\x1b[c"
"""Queries name and version, size of a cell in pixels, and device attributes."""
# Compiled with the first reply, not with the first frame.
_NAME: Final = r"\x1bP>\|(?:kitty|ghostty)\b.*"
_CELL: Final = r"\x1b\[6;(\d{1,3});(\d{1,3})t"
_ATTRIBUTES: Final = r"\x1b\[\?\d+(?:;\d+)*c"
_SIXEL: Final = "4"
_UNASKED_TERMS: Final = ("dumb", "linux", "screen")


class ImageSupport(Struct, frozen=True):
    """The image support that the terminal has reported so far."""

    kind: ImageKind = ""
    cell_width: int = 0
    """Pixels; 0 while unknown."""
    cell_height: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether images can be shown; sixels also require the size of a cell in pixels."""
        return self.kind == "kitty" or (self.kind == "sixel" and self.cell_height > 0)


def image_query(env: Mapping[str, str]) -> str:
    """Return the query; "" inside GNU screen, and for terminals that cannot show images."""
    is_asked = not env.get("STY") and not env.get("TERM", "").startswith(_UNASKED_TERMS)
    return QUERY if is_asked else ""


def support_from_reply(text: str, support: ImageSupport) -> ImageSupport | None:
    """Return the support, updated with a reply of the terminal; None for other replies."""
    if text.startswith("\x1bP>|"):
        is_kitty = re.match(_NAME, text, re.IGNORECASE) is not None
        return replace(support, kind="kitty") if is_kitty else support
    if size_match := re.fullmatch(_CELL, text):
        return replace(support, cell_height=int(size_match[1]), cell_width=int(size_match[2]))
    if re.fullmatch(_ATTRIBUTES, text):
        has_sixel = _SIXEL in text[3:-1].split(";")[1:]
        return replace(support, kind="sixel") if has_sixel and not support.kind else support
    return None
