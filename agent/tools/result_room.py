"""How much of the model's window the results of one round may fill.

A result is bounded before it enters the history, because the history is append-only.
"""

from __future__ import annotations

import sys

from agent.model.text_tokens import characters_within, text_tokens


class ResultRoom:
    """Tokens that the calls of one round share; a short result leaves more to the others."""

    def __init__(self, tokens: int = sys.maxsize, calls: int = 1) -> None:
        """`calls` is how many results the round will have."""
        self._tokens = tokens
        self._calls = calls

    def characters(self, text: str) -> int:
        """Return how many characters of this text one call may have."""
        if self._tokens == sys.maxsize:
            return sys.maxsize
        return max(1, characters_within(text, self._tokens // max(1, self._calls)))

    def take(self, text: str) -> None:
        """Count a call's result."""
        self._tokens = max(0, self._tokens - text_tokens(text))
        self._calls -= 1
