"""Rejects what the real endpoint rejects about strict schemas, which it compiles to one grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agent.model.dialects.json_members import record

_ANY: Final = frozenset({"type", "enum", "const", "description", "title", "default"})
_KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "object": _ANY | {"properties", "required", "additionalProperties", "$defs"},
    "array": _ANY | {"items", "minItems"},
    "string": _ANY | {"format", "pattern"},
    "": _ANY | {"anyOf", "allOf", "$ref"},
}
"""Keywords that it compiles, by type; "" for nodes without a type."""

MOST_TOOLS: Final = 20
MOST_OPTIONAL: Final = 24
MOST_UNIONS: Final = 16


def strict_problem(tools: Sequence[Mapping[str, object]]) -> str | None:
    """Return the first reason to reject a request because of its strict tools; None if none."""
    nodes: list[Mapping[str, object]] = []
    count = 0
    for index, tool in enumerate(tools):
        if not tool.get("strict"):
            continue
        count += 1
        for node in _nodes(tool.get("input_schema")):
            nodes.append(node)
            if (problem := _node_problem(node)) is not None:
                return f"tools.{index}.custom: {problem}"
    optional = sum(len(record(node, "properties")) - len(_required_names(node)) for node in nodes)
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes)
    if count > MOST_TOOLS:
        return f"Too many strict tools ({count}). Reduce the number of them (limit: {MOST_TOOLS})."
    if optional > MOST_OPTIONAL:
        return (
            f"Schemas contains too many optional parameters ({optional}), which would make grammar "
            "compilation inefficient. Reduce the number of optional parameters in your tool "
            f"schemas (limit: {MOST_OPTIONAL})."
        )
    if unions > MOST_UNIONS:
        return (
            f"Schemas contains too many parameters with union types ({unions}), which would make "
            f"grammar compilation inefficient (limit: {MOST_UNIONS})."
        )
    return None


def _node_problem(node: Mapping[str, object]) -> str | None:
    kind = node.get("type") if isinstance(node.get("type"), str) else ""
    keywords = _KEYWORDS.get(str(kind), _ANY)
    if extra := sorted(set(node) - keywords):
        return f"For '{kind}' type, properties {', '.join(extra)} are not supported"
    if kind == "object" and node.get("additionalProperties") is not False:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    if kind == "array" and node.get("minItems", 0) not in (0, 1):
        return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if not {"type", "enum", "const", "anyOf", "allOf", "$ref"} & set(node):
        return "For '' type, a schema without a type is not supported"
    return None


def _nodes(schema: object) -> Iterator[Mapping[str, object]]:
    """Yield a schema and all schemas inside it."""
    if isinstance(schema, list):
        for part in schema:
            yield from _nodes(part)
    if not isinstance(schema, Mapping):
        return
    yield schema
    for name in ("items", "anyOf", "allOf"):
        yield from _nodes(schema.get(name))
    for part in (*record(schema, "properties").values(), *record(schema, "$defs").values()):
        yield from _nodes(part)


def _required_names(node: Mapping[str, object]) -> Sequence[object]:
    names = node.get("required")
    return names if isinstance(names, list) else ()
