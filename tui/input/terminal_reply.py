"""Replies of the terminal to queries."""

from __future__ import annotations

from typing import Final

from textual.message import Message

ASKED_FOR: Final = (
    "\x1b]11;", "\x1b[?997;", "\x1b[?1004;", "\x1b[2;", "\x1b[3;", "\x1bP>|", "\x1b[6;", "\x1b[?6",
    "\x1b[?1;",
)  # fmt: skip
"""How expected replies begin: the background color, a change of it, whether focus reports are
supported, the cursor's position after a width probe in the second or third row, the terminal's
name, a cell's size in pixels, and device attributes."""


class TerminalReply(Message, bubble=False):
    """A reply to a query, as received; never input."""

    def __init__(self, text: str) -> None:
        """Take the whole sequence."""
        super().__init__()
        self.text = text
