"""How a failure of code that is not ours is shown."""

from __future__ import annotations


class StatedFailure(Exception):
    """An error whose text is a sentence for the user, complete without the name of its class."""


def failure_text(error: BaseException) -> str:
    """Return one line on what failed; with the class for errors that were not written for users."""
    return str(error) if isinstance(error, StatedFailure) else f"{type(error).__name__}: {error}"
