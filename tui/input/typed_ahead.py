"""What was typed while the terminal was still the shell's: line by line, Enter as a line feed.

The terminal makes a line feed of Enter until it is taken, which would break the line instead of
sending it. In a plain start `tui.input.early_prompt` takes it, a moment after the program began;
with options it is taken with the first frame.
"""

from __future__ import annotations

import contextlib
import os
import termios
from typing import Any

_READ_BYTES = 65536


def take_typed_ahead(fileno: int) -> tuple[list[Any] | None, bytes]:
    """Take a terminal out of line mode; return its settings before, and what was typed, as keys.

    The settings are None where there is no terminal, or where it was out of line mode already.
    """
    try:
        attributes = termios.tcgetattr(fileno)
        if not attributes[3] & termios.ICANON or not attributes[0] & termios.ICRNL:
            return None, b""
        raw_attributes = [*attributes]
        raw_attributes[0] &= ~termios.ICRNL
        raw_attributes[3] &= ~(termios.ICANON | termios.ECHO)
        raw_attributes[6] = [*attributes[6]]
        # A read returns what is there, and nothing where nothing is.
        raw_attributes[6][termios.VMIN], raw_attributes[6][termios.VTIME] = 0, 0
        termios.tcsetattr(fileno, termios.TCSANOW, raw_attributes)
    except termios.error:
        return None, b""
    pieces = []
    # Also where it was left non-blocking, and nothing is an error there.
    with contextlib.suppress(OSError):
        while piece := os.read(fileno, _READ_BYTES):
            pieces.append(piece)
    return attributes, as_keys(b"".join(pieces))


def as_keys(data: bytes) -> bytes:
    """Return the bytes as Enter would have sent them; of several lines the sender is unknown."""
    if data.count(b"\n") == 1:
        return data.replace(b"\n", b"\r")
    return data
