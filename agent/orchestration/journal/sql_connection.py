"""The interface of the journal's databases: transactions, with the database's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from msgspec import Struct

Value: TypeAlias = str | int | float | None
Execute: TypeAlias = Callable[[str, Sequence[Value]], list[tuple[Value, ...]]]
"""Takes a statement with `?` for each value; returns its rows, empty if it yields none."""


class Transaction(Struct, frozen=True):
    """An open transaction; it is committed when its block ends, and rolled back on an error."""

    execute: Execute
    now: float
    """Unix time, from the database if several machines share it."""


class SqlConnection(Protocol):
    """A connection, used by one thread."""

    def transaction(self, *, is_durable: bool = False) -> AbstractContextManager[Transaction]:
        """Open a transaction that excludes every other writer.

        Args:
            is_durable: Whether the commit must survive a power failure.

        Raises:
            JournalError: the database fails, including inside the block.
        """
        ...

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; empty if there is no such table."""
        ...

    def close(self) -> None:
        """Close the connection. Never raises."""
        ...
