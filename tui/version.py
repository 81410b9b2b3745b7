"""The version: its only definition; the package's metadata is generated from here."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"


def version() -> str:
    """Return the version. Reading it from the package's metadata would take 10 ms at each start."""
    return VERSION
