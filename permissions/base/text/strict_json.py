"""Strict JSON: parses only documents whose values can be written again, and writes valid ones.

Python's own parser accepts numbers that JSON does not have, and lone surrogates, which cannot be
encoded; either would corrupt a transcript or every later request.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

MAX_DEPTH: Final = 128
"""Deepest nesting of a document, since its values are later walked recursively."""
MAX_WRITTEN_DEPTH: Final = 100
"""Deeper values are left out where the whole cannot be written."""


def load_json(text: str) -> Any:
    """Parse one document; lone surrogates become U+FFFD.

    Raises:
        ValueError: not JSON, nested too deeply, or with numbers that JSON does not have.
    """
    text = text.removeprefix("\ufeff")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise ValueError("nested too deeply")
    return without_surrogates(value) if "\\ud" in text.lower() else value


def dump_json(value: Mapping[str, object]) -> bytes:
    """Return an object as UTF-8 JSON that is valid for any values.

    Numbers that JSON does not have become null, values nested too deeply a note, other types their
    text.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except (ValueError, RecursionError):
        text = json.dumps(_writable(value, MAX_WRITTEN_DEPTH), ensure_ascii=False, default=str)
    return text.encode("utf-8", errors="replace")


def without_surrogates(value: Any) -> Any:
    """Return the JSON value with pairs of surrogates joined and lone ones replaced by U+FFFD.

    Lone ones come from file names that are not UTF-8 and from broken escapes. The same value
    always gives the same result, so prefixes of a conversation stay stable.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(each) for each in value]
    return value


def _writable(value: object, depth: int) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping() if depth > 0:
            return {str(name): _writable(inner, depth - 1) for name, inner in value.items()}
        case list() | tuple() if depth > 0:
            return [_writable(inner, depth - 1) for inner in value]
        case Mapping() | list() | tuple():
            return "[nested too deeply]"
        case _:
            return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for each in level
            if isinstance(each, list | dict)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def _no_such_number(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


_DECODER: Final = json.JSONDecoder(parse_constant=_no_such_number, parse_float=_finite)
