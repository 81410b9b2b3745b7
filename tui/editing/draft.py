"""A prompt as a value: text with chips, which are shown as labels and sent in full. Pure.

A large paste is a single private-use character in the text, so that every key treats it as a unit
and its size does not matter; it is expanded when the prompt is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct, field

CHIP_CHARS: Final = 800
CHIP_LINES: Final = 8
"""A paste with more line breaks, or more than `CHIP_CHARS` characters, becomes a chip."""
LONG_CHARS: Final = 20_000
"""A longer text is always a chip, because laying it out after each key would take longer than a
frame. It can be edited in the external editor."""

FIRST_CHIP: Final = 0x10F000
LAST_CHIP: Final = 0x10FFFD
"""Last of the characters that represent chips; these are removed from pasted and typed text."""


class Chip(Struct, frozen=True):
    """A paste that is shown as a label."""

    number: int
    content: str
    """The text that is sent for it; for an image, the mention of its file."""
    kind: Literal["text", "image"] = "text"
    label_text: str = ""
    """The label, if it differs from the default of its kind."""

    @property
    def label(self) -> str:
        """The label that is shown for it."""
        if self.label_text:
            return self.label_text
        if self.kind == "image":
            return f"[Image #{self.number}]"
        lines = self.content.count("\n")
        size = f"+{lines} line{'s' * (lines > 1)}" if lines else f"{len(self.content):,} characters"
        return f"[Pasted text #{self.number} {size}]"


class Draft(Struct, frozen=True):
    """A prompt being edited: text with chips, and the cursor."""

    text: str = ""
    cursor: int = 0
    """Position in characters, from 0 to the length of the text."""
    chips: Mapping[str, Chip] = field(default_factory=dict)

    @property
    def expanded_text(self) -> str:
        """The text that is sent, with chips replaced by their content."""
        if not self.chips:
            return self.text
        return "".join(
            self.chips[char].content if char in self.chips else char for char in self.text
        )

    @classmethod
    def of_text(cls, text: str) -> Draft:
        """Return the draft of an earlier prompt; a text of more than `LONG_CHARS` is one chip."""
        if len(text) <= LONG_CHARS:
            return cls(text, len(text))
        char = chr(FIRST_CHIP)
        return cls(char, 1, {char: Chip(1, text)})


class DraftPiece(Struct, frozen=True):
    """Text that was cut or copied, with its chips."""

    text: str
    chips: Mapping[str, Chip] = field(default_factory=dict)


def is_chip(char: str) -> bool:
    """Return whether a character represents a chip."""
    return len(char) == 1 and FIRST_CHIP <= ord(char) <= LAST_CHIP


def free_chip_char(chips: Mapping[str, Chip]) -> str:
    """Return an unused character for another chip; the last one if all are used."""
    places = range(FIRST_CHIP, LAST_CHIP)
    return next((chr(place) for place in places if chr(place) not in chips), chr(LAST_CHIP))
