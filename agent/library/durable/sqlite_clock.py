"""A substitute for the SQL function that DBOS's tables use, for SQLite versions without it."""

from __future__ import annotations

import sqlite3
import time
from typing import Any, Final

_HAS_SUBSEC: Final = sqlite3.sqlite_version_info >= (3, 42)


class _ClockedConnection(sqlite3.Connection):
    """A connection that provides `unixepoch('subsec')`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.create_function("unixepoch", 1, _unixepoch)


def connect_options() -> dict[str, Any]:
    """Return additional arguments for `sqlite3.connect`.

    From Python 3.12 on, DBOS creates its tables with the default `unixepoch('subsec') * 1000`.
    SQLite before 3.42 evaluates it to NULL.
    """
    return {} if _HAS_SUBSEC else {"factory": _ClockedConnection}


def _unixepoch(_modifier: str) -> float:
    """Return the seconds since 1970; DBOS passes no modifier but "subsec"."""
    return time.time()
