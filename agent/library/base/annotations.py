"""Reading type annotations."""

from __future__ import annotations

from typing import Annotated, get_args, get_origin

from agent.library.base.raw_items import RawItem


def origin_of(annotation: RawItem) -> RawItem:
    """Return the unsubscripted origin of a generic type; None for any other type."""
    origin: RawItem = get_origin(annotation)
    return origin


def without_extras(annotation: RawItem) -> tuple[RawItem, tuple[RawItem, ...]]:
    """Return a type without `Annotated`, and the metadata that it adds."""
    extras: tuple[RawItem, ...] = ()
    while origin_of(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        extras = (*extras, *more)
    return annotation, extras
