"""How many examples a property test tries: some at each run, the long tail in `make soak`."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

LONGEST: Final = 100
"""Where an example is cheap and finds something only once in a thousand, `make soak` finds it."""


def examples(usual: int) -> int:
    """Return `usual`, at most `LONGEST`, or more where the loaded profile asks for more."""
    return max(min(usual, LONGEST), settings().max_examples)
