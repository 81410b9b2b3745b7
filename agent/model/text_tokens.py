"""Estimates the size of a text in tokens, without a tokenizer."""

from __future__ import annotations

from typing import Final

from permissions.base.text.late_pattern import compile_late

CHARACTERS_PER_TOKEN: Final = 3.6
"""For English and code in JSON; a conservative estimate for most text."""
WIDE_CHARACTERS_PER_TOKEN: Final = 1.2
"""For non-Latin scripts, in which a character is often a token."""
_WIDE: Final = compile_late("[^\0-\u02ff]+")


def text_tokens(text: str) -> int:
    """Return the estimated number of tokens; at least 1 unless the text is empty."""
    wide = 0 if text.isascii() else sum(map(len, _WIDE.findall(text)))
    narrow = len(text) - wide
    return int(narrow / CHARACTERS_PER_TOKEN + wide / WIDE_CHARACTERS_PER_TOKEN) + bool(text)


def characters_within(text: str, tokens: int) -> int:
    """Return how many characters of this text correspond to `tokens`, by the estimate."""
    if text.isascii():
        return int(tokens * CHARACTERS_PER_TOKEN)
    return tokens * len(text) // max(1, text_tokens(text))
