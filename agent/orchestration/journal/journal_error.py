"""Errors of the journal."""

from __future__ import annotations


class JournalError(Exception):
    """The store cannot be read or written; the text is the reason."""


class RunTakenError(JournalError):
    """Another live process owns the run."""


class UnknownRunError(JournalError):
    """The journal has no such run."""
