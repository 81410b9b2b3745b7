"""How many examples a property test tries: its usual number, or that of a longer run."""

from __future__ import annotations

from hypothesis import settings


def examples(usual: int) -> int:
    """Return `usual`, or more where the profile that is loaded asks for more (`make soak`)."""
    return max(usual, settings().max_examples)
