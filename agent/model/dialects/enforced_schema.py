"""Schemas that providers enforce: every property is required, and no others are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_REFUSED: Final = frozenset(
    {"allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"}
    | {"patternProperties", "oneOf", "propertyNames", "unevaluatedProperties"}
    | {"minLength", "maxLength", "default", "uniqueItems", "contains"}
)


def is_strict_schema(schema: Mapping[str, object]) -> bool:
    """Return whether a schema can be enforced without a change."""
    return _strict(schema, changes=False) is not None


def strict_schema(schema: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return a schema that can be enforced and allows no answer that this one does not.

    None if it has optional or arbitrary properties, or keywords that cannot be enforced.
    """
    strict = _strict(schema, changes=True)
    return strict if isinstance(strict, Mapping) else None


def _strict(node: object, *, changes: bool) -> object | None:
    """Return the node, closed to other properties if `changes`; None if it cannot be enforced."""
    if isinstance(node, list):
        parts = [_strict(each, changes=changes) for each in node]
        return None if any(part is None for part in parts) else parts
    if not isinstance(node, Mapping):
        return node if node is not None else "null"
    if _REFUSED & set(node):
        return None
    strict: dict[str, object] = dict(node)
    if node.get("type") == "object" or "properties" in node:
        properties = node.get("properties")
        names = set(properties) if isinstance(properties, Mapping) else set()
        required_names = node.get("required")
        if names != set(required_names if isinstance(required_names, list) else []):
            return None
        if changes:
            strict.setdefault("additionalProperties", False)
        if strict.get("additionalProperties") is not False:
            return None
    for key in ("properties", "$defs", "definitions"):
        parts_by_name = node.get(key)
        if isinstance(parts_by_name, Mapping):
            strict_parts = {
                name: _strict(part, changes=changes) for name, part in parts_by_name.items()
            }
            if any(part is None for part in strict_parts.values()):
                return None
            strict[key] = strict_parts
    for key in ("items", "anyOf"):
        if key in node:
            part = _strict(node[key], changes=changes)
            if part is None:
                return None
            strict[key] = part
    return strict
