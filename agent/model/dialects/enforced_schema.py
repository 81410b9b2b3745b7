"""Schemas as providers hold a model to them: every property required, none beside those named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_REFUSED: Final = frozenset(
    {"allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"}
    | {"patternProperties", "oneOf", "propertyNames", "unevaluatedProperties"}
    | {"minLength", "maxLength", "default", "uniqueItems", "contains"}
)


def is_strict_schema(schema: Mapping[str, object]) -> bool:
    """Whether a schema, as it stands, may be enforced."""
    return _strict(schema, changes=False) is not None


def strict_schema(schema: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return a schema that may be enforced and allows no answer that this one does not.

    None where there is none: it has optional or free properties, or parts that cannot be enforced.
    """
    found = _strict(schema, changes=True)
    return found if isinstance(found, Mapping) else None


def _strict(node: object, *, changes: bool) -> object | None:
    """Return the node, closed where it says nothing about other properties; None for no way."""
    if isinstance(node, list):
        parts = [_strict(each, changes=changes) for each in node]
        return None if any(part is None for part in parts) else parts
    if not isinstance(node, Mapping):
        return node if node is not None else "null"
    if _REFUSED & set(node):
        return None
    found: dict[str, object] = dict(node)
    if node.get("type") == "object" or "properties" in node:
        properties = node.get("properties")
        names = set(properties) if isinstance(properties, Mapping) else set()
        required = node.get("required")
        if names != set(required if isinstance(required, list) else []):
            return None
        if changes:
            found.setdefault("additionalProperties", False)
        if found.get("additionalProperties") is not False:
            return None
    for key in ("properties", "$defs", "definitions"):
        named = node.get(key)
        if isinstance(named, Mapping):
            made = {name: _strict(part, changes=changes) for name, part in named.items()}
            if any(part is None for part in made.values()):
                return None
            found[key] = made
    for key in ("items", "anyOf"):
        if key in node:
            part = _strict(node[key], changes=changes)
            if part is None:
                return None
            found[key] = part
    return found
