"""The version: its only definition; the package's metadata is generated from here."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"


def version() -> str:
    """Return the version. To read it from the metadata would cost every start ten milliseconds."""
    return VERSION
