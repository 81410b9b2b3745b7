"""Converts a tool's input schema for the Messages API: one object, without `$ref`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from agent.mcp.server_offer import Json

MAX_SCHEMA_CHARS: Final = 100_000
MAX_DEPTH: Final = 40
MAX_NODES: Final = 20_000
_DROPPED: Final = frozenset({"$schema", "$id", "$defs", "$anchor", "$dynamicAnchor", "definitions"})
_GROUPS: Final = {"anyOf": "any", "oneOf": "exactly one"}


class UnusableSchema(Exception):
    """The API would reject the schema; the text is the reason."""


def flatten(schema: Json) -> tuple[dict[str, object], str]:
    """Return a schema with local references resolved and alternatives at its root merged into one
    object, and a note for the model on constraints that were lost.

    References to other documents are never followed; recursive ones accept any value.

    Raises:
        UnusableSchema: it is nested too deeply or too large.
    """
    root = _Resolver(schema).resolve(schema, (), 0)
    assert isinstance(root, dict)
    whole, note = _merged_object(root)
    whole["type"] = "object"
    if not isinstance(whole.get("properties"), dict):
        whole["properties"] = {}
    if len(json.dumps(whole)) > MAX_SCHEMA_CHARS:
        raise UnusableSchema(f"its schema has more than {MAX_SCHEMA_CHARS:,} characters")
    return whole, note


class _Resolver:
    """Resolves the references of one schema, with limits on depth and size."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._remaining = MAX_NODES

    def resolve(self, node: object, path: tuple[str, ...], depth: int) -> object:
        self._remaining -= 1
        if depth > MAX_DEPTH or self._remaining < 0:
            raise UnusableSchema("its schema is nested too deeply or too large")
        if isinstance(node, list):
            return [self.resolve(item, path, depth + 1) for item in node]
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str):
            rest = {key: value for key, value in node.items() if key != "$ref"}
            target = _target(self._root, reference) if reference not in path else None
            if target is None:
                return self.resolve(rest, path, depth + 1)
            return self.resolve({**target, **rest}, (*path, reference), depth + 1)
        return {
            key: self._resolve_fields(value, path, depth)
            if key == "properties"
            else self.resolve(value, path, depth + 1)
            for key, value in node.items()
            if key not in _DROPPED
        }

    def _resolve_fields(self, node: object, path: tuple[str, ...], depth: int) -> object:
        """Resolve the fields of an object, whose names are not keywords."""
        fields = node if isinstance(node, Mapping) else {}
        return {name: self.resolve(value, path, depth + 1) for name, value in fields.items()}


def _target(root: Json, reference: str) -> Json | None:
    if not reference.startswith("#"):
        return None
    node: object = root
    for part in reference.lstrip("#").strip("/").split("/") if reference != "#" else ():
        name = part.replace("~1", "/").replace("~0", "~")
        node = node.get(name) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else None


def _merged_object(schema: dict[str, object]) -> tuple[dict[str, object], str]:
    whole = {key: value for key, value in schema.items() if key not in {*_GROUPS, "allOf"}}
    notes: list[str] = []
    for part in _objects(schema.get("allOf")):
        inner, note = _merged_object(part)
        _merge(whole, inner, is_required=True)
        notes += [note] if note else []
    for word, how in _GROUPS.items():
        groups = _objects(schema.get(word))
        for part in groups:
            _merge(whole, _merged_object(part)[0], is_required=False)
        if names := [_fields(part) for part in groups if _fields(part)]:
            group_list = "; ".join(", ".join(group) for group in names)
            notes.append(f"Give {how} of these groups of fields: {group_list}.")
    return whole, " ".join(notes)


def _objects(value: object) -> list[dict[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _fields(schema: dict[str, object]) -> list[str]:
    required_names = schema.get("required")
    if isinstance(required_names, list) and required_names:
        return [str(name) for name in required_names]
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _merge(whole: dict[str, object], part: dict[str, object], *, is_required: bool) -> None:
    properties = whole.get("properties")
    fields = dict(properties) if isinstance(properties, dict) else {}
    more = part.get("properties")
    for name, field in more.items() if isinstance(more, dict) else ():
        fields.setdefault(name, field)
    whole["properties"] = fields
    old_names, more_names = whole.get("required"), part.get("required")
    if is_required and isinstance(more_names, list):
        names = list(old_names) if isinstance(old_names, list) else []
        whole["required"] = list(dict.fromkeys([*names, *more_names]))
