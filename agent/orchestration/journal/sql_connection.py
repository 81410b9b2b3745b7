"""What the tables of the journal need of a database: transactions, and the time in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from msgspec import Struct

Value: TypeAlias = str | int | float | None
Execute: TypeAlias = Callable[[str, Sequence[Value]], list[tuple[Value, ...]]]
"""Takes a statement with `?` for each value; returns its rows, none for a statement without."""


class Transaction(Struct, frozen=True):
    """An open transaction; it is committed when its block ends, and rolled back at an error."""

    execute: Execute
    now: float
    """Unix time, of the database where several machines share it."""


class SqlConnection(Protocol):
    """A connection that one thread uses."""

    def transaction(self, *, is_durable: bool = False) -> AbstractContextManager[Transaction]:
        """Open a transaction that excludes every other writer.

        Args:
            is_durable: Whether a power cut after the commit may not lose it.

        Raises:
            JournalError: the database fails, also inside the block.
        """
        ...

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; empty where there is no such table."""
        ...

    def close(self) -> None:
        """Close it. Raises nothing."""
        ...
