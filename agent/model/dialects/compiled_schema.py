"""Tools for which the Messages API enforces the schema, as far as it can compile it.

The endpoint compiles all schemas of a request into one grammar. Next: `agent.model.wire`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from agent.model.dialects.json_members import record

MOST_TOOLS: Final = 20
"""Strict tools that the endpoint accepts in one request."""
MOST_OPTIONAL: Final = 24
"""Optional parameters of all of them together."""
MOST_UNIONS: Final = 16
"""Parameters of all of them together that may have several types."""
MOST_OPTIONAL_OF_ONE: Final = 8
"""Optional parameters of one tool; more would leave too few for the others."""

_KEPT: Final = ("type", "enum", "const", "required", "additionalProperties")
_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
_NOT_COMPILED: Final = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"}
    | {
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "prefixItems",
        "contains",
        "$ref",
    }
)
_NULL: Final = {"type": "null"}
_Schema = Mapping[str, object]


def compiled_tools(tools: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return the tools; those marked `strict` have the schema that the endpoint compiles.

    Strict tools that would exceed its limits, or that it cannot compile, lose the mark.
    """
    offered_tools: list[Mapping[str, object]] = []
    count = optional = unions = 0
    for tool in tools:
        if "strict" not in tool:
            offered_tools.append(tool)
            continue
        schema = compiled_schema(tool.get("input_schema"))
        more_optional, more_unions = _choices(schema)
        if (
            schema is None
            or count == MOST_TOOLS
            or optional + more_optional > MOST_OPTIONAL
            or more_optional > MOST_OPTIONAL_OF_ONE
            or unions + more_unions > MOST_UNIONS
        ):
            offered_tools.append({name: value for name, value in tool.items() if name != "strict"})
            continue
        count, optional, unions = count + 1, optional + more_optional, unions + more_unions
        offered_tools.append({**tool, "input_schema": schema})
    return offered_tools


def compiled_schema(schema: object) -> dict[str, object] | None:
    """Return the part of a schema that the endpoint compiles; the rest goes into descriptions.

    None if this would change which calls are valid: objects with arbitrary members, values of
    any type, recursive references.
    """
    definitions = record(schema, "$defs") if isinstance(schema, Mapping) else {}
    return _compile_node(_inline_references(schema, definitions))


def _inline_references(node: object, definitions: _Schema, path: tuple[str, ...] = ()) -> object:
    """Return a schema with references replaced by their definitions, except recursive ones."""
    if isinstance(node, list):
        return [_inline_references(each, definitions, path) for each in node]
    if not isinstance(node, Mapping):
        return node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name in definitions and name not in path:
        whole = {**record(definitions, name), **node}
        del whole["$ref"]
        return _inline_references(whole, definitions, (*path, name))
    return {
        key: _inline_references(value, definitions, path)
        for key, value in node.items()
        if key != "$defs"
    }


def _compile_node(node: object, *, is_optional: bool = False) -> dict[str, object] | None:
    if not isinstance(node, Mapping) or _NOT_COMPILED & set(node):
        return None
    rest = {name: value for name, value in node.items() if name != "title"}
    branches = _branches(rest, is_optional=is_optional)
    if len(branches) == 1 and isinstance(branches[0], Mapping):
        return _compile_node({**branches[0], **rest}, is_optional=is_optional)
    kind = rest.get("type")
    schema: dict[str, object] = {}
    if branches:
        parts = [_compile_node(branch) for branch in branches]
        schema["anyOf"] = None if None in parts else parts
    elif kind is None and not {"enum", "const"} & set(rest):
        return None
    if kind == "object":
        schema["properties"] = _properties(rest)
    if kind == "array":
        schema["items"] = _compile_node(rest.pop("items", None))
    if None in schema.values():
        return None
    keywords = [name for name in _KEPT if name in rest]
    keywords += ["minItems"] if rest.get("minItems") in (0, 1) else []
    keywords += ["format"] if rest.get("format") in _FORMATS else []
    schema.update({name: rest.pop(name) for name in keywords})
    if description := _description(rest):
        schema["description"] = description
    return schema


def _branches(rest: dict[str, object], *, is_optional: bool) -> list[object]:
    """Remove the alternatives from a node and return them; empty for a node of one type.

    An optional parameter loses its null: leaving it out already expresses that.
    """
    kinds = rest.get("type")
    branches = rest.pop("anyOf", None)
    if isinstance(kinds, list):
        del rest["type"]
        branches = [{"type": kind} for kind in kinds]
    alternatives = branches if isinstance(branches, list) else []
    return [each for each in alternatives if not (is_optional and each == _NULL)]


def _properties(rest: dict[str, object]) -> dict[str, object] | None:
    """Remove an object's properties and return them compiled; None if it may have others."""
    required_names = rest.get("required")
    names = required_names if isinstance(required_names, list) else []
    members = record(rest, "properties")
    rest.pop("properties", None)
    properties = {
        name: _compile_node(part, is_optional=name not in names) for name, part in members.items()
    }
    if rest.get("additionalProperties") is not False or None in properties.values():
        return None
    return dict(properties)


def _description(rest: dict[str, object]) -> str:
    """Return the description with what the grammar cannot express: bounds, patterns, defaults."""
    text = str(rest.pop("description", ""))
    notes = [f"{name}: {json.dumps(rest[name])}" for name in rest if rest[name] not in (None, "")]
    return " ".join(filter(None, (text, "{" + ", ".join(notes) + "}" if notes else "")))


def _choices(node: object) -> tuple[int, int]:
    """Return the number of optional parameters of a compiled schema, and of unions."""
    if isinstance(node, list):
        each = [_choices(part) for part in node]
        return sum(optional for optional, _ in each), sum(unions for _, unions in each)
    if not isinstance(node, Mapping):
        return 0, 0
    properties = record(node, "properties")
    required_names = node.get("required")
    inside = [*properties.values(), node.get("items"), node.get("anyOf")]
    optional, unions = _choices(inside)
    missing = len(properties) - len(required_names if isinstance(required_names, list) else [])
    return optional + missing, unions + ("anyOf" in node)
