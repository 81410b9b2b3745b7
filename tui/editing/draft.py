"""A prompt as a value: text with pastes in it, each shown as a label and sent as it is. Pure.

A large paste is one character of a private range in the text, so that every key treats it as one
thing and a paste of megabytes costs what a letter costs; it expands when the prompt is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct, field

CHIP_CHARS: Final = 800
CHIP_LINES: Final = 8
"""Pastes with more characters or lines than these become chips."""
LONG_CHARS: Final = 20_000
"""A text with more characters is always a chip: laying it out would cost more than a frame a key.
The external editor opens it."""

FIRST_CHIP: Final = 0x10F000
LAST_CHIP: Final = 0x10FFFD
"""The characters that stand for chips; they are removed from pasted and typed text."""


class Chip(Struct, frozen=True):
    """A paste that is shown as a label."""

    number: int
    content: str
    """What is sent in its place; for an image, the mention of its file."""
    kind: Literal["text", "image"] = "text"
    label_text: str = ""
    """The label, where it is not the one of its kind."""

    @property
    def label(self) -> str:
        """What stands in its place."""
        if self.label_text:
            return self.label_text
        if self.kind == "image":
            return f"[Image #{self.number}]"
        lines = self.content.count("\n")
        size = f"+{lines} line{'s' * (lines > 1)}" if lines else f"{len(self.content):,} characters"
        return f"[Pasted text #{self.number} {size}]"


class Draft(Struct, frozen=True):
    """A current prompt: text with chips in it, and the place of the cursor."""

    text: str = ""
    cursor: int = 0
    """In characters, 0 to the length of the text."""
    chips: Mapping[str, Chip] = field(default_factory=dict)

    @property
    def expanded_text(self) -> str:
        """The text that is sent: chips replaced by what was pasted."""
        if not self.chips:
            return self.text
        return "".join(
            self.chips[char].content if char in self.chips else char for char in self.text
        )

    @classmethod
    def of_text(cls, text: str) -> Draft:
        """Return a draft of a prompt typed earlier; one that no screen could hold is one chip."""
        if len(text) <= LONG_CHARS:
            return cls(text, len(text))
        char = chr(FIRST_CHIP)
        return cls(char, 1, {char: Chip(1, text)})


class DraftPiece(Struct, frozen=True):
    """Text that was cut or copied, with the chips in it."""

    text: str
    chips: Mapping[str, Chip] = field(default_factory=dict)


def is_chip(char: str) -> bool:
    """Return whether a character stands for a paste."""
    return len(char) == 1 and FIRST_CHIP <= ord(char) <= LAST_CHIP


def free_chip_char(chips: Mapping[str, Chip]) -> str:
    """Return a character for one more chip; the last one there is, when all are taken."""
    places = range(FIRST_CHIP, LAST_CHIP)
    return next((chr(place) for place in places if chr(place) not in chips), chr(LAST_CHIP))
