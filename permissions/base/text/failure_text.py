"""Formats exceptions for users."""

from __future__ import annotations

import os


class StatedFailure(Exception):
    """An error whose message is a complete sentence for the user."""


def failure_text(error: BaseException) -> str:
    """Return one line on what failed; with the class for errors that were not written for users."""
    return str(error) if isinstance(error, StatedFailure) else f"{type(error).__name__}: {error}"


def error_reason(error: BaseException, *, names_file: bool = True) -> str:
    """Return why an operation failed: of an OSError the reason and its file, without the number.

    Args:
        names_file: False where the text around it names the file.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    if not names_file or not isinstance(error.filename, str | bytes):
        return error.strerror
    name = os.fsdecode(error.filename)
    return f"{error.strerror}: {name if name.isprintable() else repr(name)}"
