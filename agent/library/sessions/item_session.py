"""The interface of sessions, which keep a conversation between runs."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agent.library.base.raw_items import InputItem, RawItem


@dataclass
class SessionSettings:
    """How a session is read; None leaves a field to the session."""

    limit: int | None = None
    """Number of latest items to read."""

    def resolve(self, override: SessionSettings | Mapping[str, RawItem] | None) -> SessionSettings:
        """Return these settings with those of `override` that are set."""
        settings = session_settings(override)
        if settings is None or settings.limit is None:
            return self
        return dataclasses.replace(self, limit=settings.limit)


def session_settings(
    value: SessionSettings | Mapping[str, RawItem] | None,
) -> SessionSettings | None:
    """Return settings that may have been given as a dict.

    Raises:
        TypeError: the dict has a name that is not a setting.
    """
    if value is None or isinstance(value, SessionSettings):
        return value
    unknown = sorted(set(value) - {"limit"})
    if unknown:
        raise TypeError(f"Unknown session settings: {', '.join(unknown)}")
    return SessionSettings(**value)


@runtime_checkable
class ItemSession(Protocol):
    """A stored list of items; exported as `Session`."""

    session_id: str
    session_settings: SessionSettings | None

    async def get_items(self, limit: int | None = None) -> list[InputItem]:
        """Return the latest items, oldest first; all for None."""
        ...

    async def add_items(self, items: list[InputItem]) -> None:
        """Append items."""
        ...

    async def pop_item(self) -> InputItem | None:
        """Remove the latest item and return it; None if there is none."""
        ...

    async def clear_session(self) -> None:
        """Remove all items."""
        ...


class SessionABC(abc.ABC):
    """Base class for sessions."""

    session_id: str
    session_settings: SessionSettings | None = None

    @abc.abstractmethod
    async def get_items(self, limit: int | None = None) -> list[InputItem]:
        """Return the latest items, oldest first; all for None."""

    @abc.abstractmethod
    async def add_items(self, items: list[InputItem]) -> None:
        """Append items."""

    @abc.abstractmethod
    async def pop_item(self) -> InputItem | None:
        """Remove the latest item and return it; None if there is none."""

    @abc.abstractmethod
    async def clear_session(self) -> None:
        """Remove all items."""
