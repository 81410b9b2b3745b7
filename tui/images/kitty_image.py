"""Sequences of kitty's graphics protocol that transmit and delete an image. Pure."""

from __future__ import annotations

import base64
from typing import Final

_CHUNK: Final = 4096


def transmission(number: int, png: bytes, columns: int, rows: int) -> str:
    """Return the sequences that transmit an image for placeholders, without a reply."""
    data = base64.b64encode(png).decode("ascii")
    chunks = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)]
    keys = f"a=T,U=1,q=2,f=100,i={number},c={columns},r={rows},"
    return "".join(
        f"\x1b_G{keys if index == 0 else 'q=2,'}m={int(index + 1 < len(chunks))};{chunk}\x1b\\"
        for index, chunk in enumerate(chunks)
    )


def deletion(number: int) -> str:
    """Return the sequence that deletes an image from the terminal."""
    return f"\x1b_Ga=d,d=I,q=2,i={number}\x1b\\"
