"""Dataclasses that are frozen for the type checker and as cheap to make as a plain object.

A decision makes hundreds of small records. Freezing them while the program runs costs four times
what making them costs, so the type checker alone sees to it that none is changed. They compare,
hash and `replace` like any frozen dataclass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from permissions.base.lazy_dataclass import lazy_dataclass

    def record(*, frozen: bool, slots: bool):
        """Return a decorator that takes what `dataclass` takes, for records made very often."""
        assert frozen
        return lazy_dataclass(slots=slots, unsafe_hash=True)


__all__ = ["record"]
