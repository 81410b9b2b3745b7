"""The version, from the installed package's metadata."""

from __future__ import annotations


def version() -> str:
    """Return the installed version; `0+unknown` where the package is not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("agent-tui")
    except PackageNotFoundError:
        return "0+unknown"
