"""Reading type annotations."""

from __future__ import annotations

from typing import Annotated, get_args, get_origin

from agent.library.base.raw_items import RawItem


def origin_of(annotation: RawItem) -> RawItem:
    """Return the class behind a generic type; None for what is none."""
    origin: RawItem = get_origin(annotation)
    return origin


def without_extras(annotation: RawItem) -> tuple[RawItem, tuple[RawItem, ...]]:
    """Return a type and what `Annotated` adds to it."""
    extras: tuple[RawItem, ...] = ()
    while origin_of(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        extras = (*extras, *more)
    return annotation, extras
