"""How many examples a property test tries: few in each run, many in `make soak`."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

LONGEST: Final = 100
"""Limit in a normal run; errors that occur once in a thousand examples are for `make soak`."""


def examples(usual: int) -> int:
    """Return `usual`, at most `LONGEST`, or more if the loaded profile asks for more."""
    return max(min(usual, LONGEST), settings().max_examples)
