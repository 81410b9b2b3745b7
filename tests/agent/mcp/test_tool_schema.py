"""Schemas of servers become what the API takes: one object, nothing fetched, nothing endless."""

from __future__ import annotations

import json

import pytest

from agent.mcp.bridge.tool_schema import UnusableSchema, flatten


def test_local_references_are_resolved_and_others_left_open() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
        "properties": {
            "here": {"$ref": "#/$defs/place", "description": "where"},
            "far": {"$ref": "https://example.com/schema.json"},
            "$ref": {"type": "string"},
        },
    }
    flat, note = flatten(schema)
    assert flat["properties"] == {
        "here": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "description": "where",
        },
        "far": {},
        "$ref": {"type": "string"},
    }
    assert not note
    assert "$defs" not in flat


def test_what_refers_to_itself_is_left_open() -> None:
    schema = {
        "type": "object",
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}},
        "properties": {"first": {"$ref": "#/$defs/node"}},
    }
    flat, _ = flatten(schema)
    assert flat["properties"] == {"first": {"properties": {"next": {}}}}


def test_groups_at_the_root_become_one_object() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "allOf": [{"properties": {"size": {"type": "integer"}}, "required": ["size"]}],
        "anyOf": [
            {"properties": {"path": {"type": "string"}}, "required": ["path"]},
            {"properties": {"url": {"type": "string"}}, "required": ["url"]},
        ],
    }
    flat, note = flatten(schema)
    assert sorted(flat) == ["properties", "required", "type"]
    assert sorted(flat["properties"]) == ["id", "path", "size", "url"]  # type: ignore[call-overload]
    assert flat["required"] == ["id", "size"]
    assert note == "Give any of these groups of fields: path; url."


def test_a_schema_without_fields_has_none() -> None:
    assert flatten({"type": "object"}) == ({"type": "object", "properties": {}}, "")


def test_what_is_too_deep_or_too_large_is_refused() -> None:
    deep: dict[str, object] = {"type": "object"}
    for _ in range(50):
        deep = {"type": "object", "items": deep}
    with pytest.raises(UnusableSchema):
        flatten(deep)
    with pytest.raises(UnusableSchema):
        flatten({"type": "object", "description": "x" * 200_000})
    definitions = {
        f"d{n}": {"properties": {f"p{i}": {"$ref": f"#/$defs/d{n + 1}"} for i in range(10)}}
        for n in range(30)
    }
    with pytest.raises(UnusableSchema):
        flatten(
            {"type": "object", "$defs": definitions, "properties": {"a": {"$ref": "#/$defs/d0"}}}
        )


def test_the_result_is_json() -> None:
    flat, _ = flatten({"type": "object", "properties": {"a": {"enum": [1, None]}}})
    assert json.loads(json.dumps(flat)) == flat
