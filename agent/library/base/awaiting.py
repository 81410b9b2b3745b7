"""Resolves the results of callers' functions, which may be plain or async."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TypeAlias, TypeVar

T = TypeVar("T")

MaybeAwaitable: TypeAlias = Awaitable[T] | T


async def resolve_value(value: Awaitable[T] | T) -> T:
    """Return a value, awaited if it is awaitable."""
    if inspect.isawaitable(value):
        return await value
    return value
