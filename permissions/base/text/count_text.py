"""Formats a count with its noun."""

from __future__ import annotations


def count_text(count: int, noun: str) -> str:
    """Return the number and the noun, which is in the plural unless there is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
