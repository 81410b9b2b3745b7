"""Type-ahead: input from before the program put the terminal into raw mode.

In line mode the terminal turns Enter into a line feed, which would insert a line break instead of
submitting. `tui.input.early_prompt` leaves line mode soon after the program starts; where it is
not shown, the driver does with the first frame.
"""

from __future__ import annotations

import contextlib
import os
import termios
from typing import Any

_READ_BYTES = 65536


def take_typed_ahead(fileno: int) -> tuple[list[Any] | None, bytes]:
    """Turn off a terminal's line mode; return its former settings, and the typed input as keys.

    The settings are None if there is no terminal, or if line mode was off already.
    """
    try:
        attributes = termios.tcgetattr(fileno)
        if not attributes[3] & termios.ICANON or not attributes[0] & termios.ICRNL:
            return None, b""
        raw_attributes = [*attributes]
        raw_attributes[0] &= ~termios.ICRNL
        raw_attributes[3] &= ~(termios.ICANON | termios.ECHO)
        raw_attributes[6] = [*attributes[6]]
        # Reads return what is available, and do not block.
        raw_attributes[6][termios.VMIN], raw_attributes[6][termios.VTIME] = 0, 0
        termios.tcsetattr(fileno, termios.TCSANOW, raw_attributes)
    except termios.error:
        return None, b""
    pieces = []
    # A descriptor that was left non-blocking raises an error when nothing is available.
    with contextlib.suppress(OSError):
        while piece := os.read(fileno, _READ_BYTES):
            pieces.append(piece)
    return attributes, as_keys(b"".join(pieces))


def as_keys(data: bytes) -> bytes:
    """Return the bytes with a single line feed as Enter; several may be a paste and stay."""
    if data.count(b"\n") == 1:
        return data.replace(b"\n", b"\r")
    return data
