"""Converts JSON to a record leniently, by the types of its fields.

Invalid values are skipped and reported with their path: an item of a list, an entry of an object,
or a field. An object that lacks a required field is skipped as a whole. Unknown keys are ignored,
unless the record forbids them. Next: `agent.settings.schema`.
"""

from __future__ import annotations

import functools
import operator
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo

from permissions.base.text.late_pattern import compile_late

Place: TypeAlias = tuple[str | int, ...]
"""The path of a value: keys, and indexes in lists."""
Problem: TypeAlias = tuple[Place, str]
"""The path of a skipped value, and what is expected there."""
RecordT = TypeVar("RecordT", bound=Struct)

_LEFT_OUT: Final = object()
_PLAIN: Final[Mapping[object, tuple[type | tuple[type, ...], str]]] = {
    str: (str, "a string"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
}
_LIMITS: Final[Mapping[str, tuple[str, Callable[[Any, Any], bool]]]] = {
    "gt": ("greater than", operator.gt),
    "ge": ("greater than or equal to", operator.ge),
    "lt": ("less than", operator.lt),
    "le": ("less than or equal to", operator.le),
}


def read_record(
    kind: type[RecordT], raw: Mapping[str, object], *, is_lax: bool = False
) -> tuple[RecordT | None, tuple[Problem, ...]]:
    """Return the record, None if a required field is missing, and the skipped values.

    A ValueError of the record's `__post_init__` skips the whole record. `is_lax` also accepts
    numbers and booleans written as text, as models do.
    """
    reader = _Reader(is_lax=is_lax)
    record = reader.record(kind, raw, ())
    return (None if record is _LEFT_OUT else cast("RecordT", record)), tuple(reader.problems)


def as_values(record: Struct) -> dict[str, object]:
    """Return a record's fields that are not None, as JSON values."""
    pairs = ((name, getattr(record, name)) for name in record.__struct_fields__)
    return {name: _plain(value) for name, value in pairs if value is not None}


def _plain(value: object) -> object:
    match value:
        case Struct():
            return as_values(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value


@functools.cache
def fields_of(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    """Return the fields of a record in order, with resolved types."""
    return msgspec.structs.fields(kind)


@functools.cache
def _names_of(kind: type[Struct]) -> frozenset[str]:
    return frozenset({*kind.__struct_fields__, *kind.__struct_encode_fields__})


class _Reader:
    def __init__(self, *, is_lax: bool) -> None:
        self._is_lax = is_lax
        self.problems: list[Problem] = []

    def record(self, kind: type[Struct], raw: Mapping[str, object], path: Place) -> object:
        values: dict[str, object] = {}
        if kind.__struct_config__.forbid_unknown_fields:
            self._report_unknown(kind, raw, path)
        for field in fields_of(kind):
            key = field.encode_name if field.encode_name in raw else field.name
            if key in raw:
                value = self.value(field.type, raw[key], (*path, key))
                if value is not _LEFT_OUT:
                    values[field.name] = value
                elif field.required:
                    return _LEFT_OUT
            elif field.required:
                return self._leave_out(path, f"expected {field.encode_name!r} in it")
        try:
            return kind(**values)
        except ValueError as error:
            return self._leave_out(path, str(error))

    def _report_unknown(self, kind: type[Struct], raw: Mapping[str, object], path: Place) -> None:
        for key in raw.keys() - _names_of(kind):
            self._leave_out((*path, key), "no such field")

    def value(self, kind: Any, raw: object, path: Place) -> object:
        """Return the value converted to this type, or `_LEFT_OUT`."""
        origin = get_origin(kind)
        if origin is Annotated:
            inner, *notes = get_args(kind)
            return self._check_limits(self.value(inner, raw, path), notes, path)
        if origin in (Union, types.UnionType):
            return self._first_of(get_args(kind), raw, path)
        if origin is Literal:
            return self._one_of(get_args(kind), raw, path)
        if origin is list:
            return self._list(get_args(kind)[0], raw, path)
        if origin is dict:
            return self._object(get_args(kind)[1], raw, path)
        if kind in _PLAIN:
            return self._simple(kind, raw, path)
        if isinstance(kind, type) and issubclass(kind, Struct):
            if not isinstance(raw, dict):
                return self._leave_out(path, _OBJECT)
            return self.record(kind, raw, path)
        return raw

    def _leave_out(self, path: Place, message: str) -> object:
        self.problems.append((path, message))
        return _LEFT_OUT

    def _simple(self, kind: type, raw: object, path: Place) -> object:
        if self._is_lax:
            raw = _coerce(kind, raw)
        classes, name = _PLAIN[kind]
        if not isinstance(raw, classes) or (isinstance(raw, bool) and kind is not bool):
            return self._leave_out(path, f"expected {name}")
        return float(cast("int | float", raw)) if kind is float else raw

    def _one_of(self, choices: Sequence[object], raw: object, path: Place) -> object:
        if isinstance(raw, str) and raw in choices:
            return raw
        *most, last = map(repr, choices)
        names = f"{', '.join(most)} or {last}" if most else last
        return self._leave_out(path, f"expected {names}")

    def _first_of(self, kinds: Sequence[object], raw: object, path: Place) -> object:
        """Return the value converted to the first type that accepts all of it."""
        if raw is None and types.NoneType in kinds:
            return None
        kinds = [kind for kind in kinds if kind is not types.NoneType]
        if len(kinds) == 1:
            return self.value(kinds[0], raw, path)
        for kind in reversed(kinds):
            attempt = _Reader(is_lax=self._is_lax)
            value = attempt.value(kind, raw, path)
            if not attempt.problems:
                return value
        return self._leave_out(path, attempt.problems[0][1])

    def _list(self, kind: object, raw: object, path: Place) -> object:
        if not isinstance(raw, list):
            return self._leave_out(path, "expected a list")
        items = (self.value(kind, item, (*path, place)) for place, item in enumerate(raw))
        return [item for item in items if item is not _LEFT_OUT]

    def _object(self, kind: object, raw: object, path: Place) -> object:
        if not isinstance(raw, dict):
            return self._leave_out(path, _OBJECT)
        entries = ((key, self.value(kind, item, (*path, key))) for key, item in raw.items())
        return {key: item for key, item in entries if item is not _LEFT_OUT}

    def _check_limits(self, value: object, notes: Sequence[object], path: Place) -> object:
        if value is _LEFT_OUT or value is None:
            return value
        for note in notes:
            if not isinstance(note, Meta):
                continue
            if note.min_length is not None and len(cast("list[object]", value)) < note.min_length:
                return self._leave_out(path, f"expected at least {note.min_length} in it")
            if note.max_length is not None and len(cast("list[object]", value)) > note.max_length:
                return self._leave_out(path, f"expected at most {note.max_length} in it")
            if note.pattern is not None and not re.search(note.pattern, cast("str", value)):
                return self._leave_out(path, f"expected text that matches {note.pattern}")
            for name, (words, holds) in _LIMITS.items():
                limit = getattr(note, name)
                if limit is not None and not holds(value, limit):
                    return self._leave_out(path, f"expected {words} {limit}")
        return value


def _coerce(kind: type, raw: object) -> object:
    """Return a number or boolean that is written as another type; else `raw`."""
    if kind is bool and isinstance(raw, str):
        return _BOOLEANS.get(raw.lower(), raw)
    if kind in (int, float) and isinstance(raw, str) and _NUMBER.fullmatch(raw.strip()):
        raw = float(raw) if kind is float or "." in raw else int(raw)
    if kind is int and isinstance(raw, float) and raw.is_integer():
        return int(raw)
    return raw


_OBJECT: Final = "expected an object"
_BOOLEANS: Final = {"true": True, "false": False}
_NUMBER: Final = compile_late(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?")
