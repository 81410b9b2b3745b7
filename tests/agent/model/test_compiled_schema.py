"""Strict tools as the Messages API compiles them, held against what its server rejects."""

from __future__ import annotations

from typing import Any

import pytest

from agent.model.dialects.compiled_schema import compiled_schema, compiled_tools
from agent.model.scripted.validate_strict import strict_problem
from agent.tools.registry import ToolRegistry

NUMBER: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 9}


def closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def tool(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": "", "input_schema": schema, "strict": True}


def properties(schema: dict[str, Any]) -> Any:
    compiled = compiled_schema(schema)
    assert compiled is not None
    return compiled["properties"]


def test_most_of_our_tools_are_strict_and_all_compile() -> None:
    marked = [{**each.to_wire(), "strict": True} for each in ToolRegistry().all()]
    assert strict_problem(marked) is not None
    tools = compiled_tools(marked)
    assert strict_problem(tools) is None
    strict = {str(each["name"]) for each in tools if "strict" in each}
    assert {"Read", "Edit", "Write", "Glob", "Bash", "TodoWrite", "AskUserQuestion"} <= strict
    assert len(strict) > len(tools) * 3 // 4
    # What is not strict goes out as it is.
    assert [each for each in tools if "strict" not in each] == [
        {name: value for name, value in each.items() if name != "strict"}
        for each in marked
        if each["name"] not in strict
    ]


def test_bounds_go_into_descriptions() -> None:
    schema = closed(("n", "name"), n=NUMBER, name={"type": "string", "description": "Whose."})
    assert properties(schema) == {
        "n": {"type": "integer", "description": "{minimum: 1, maximum: 9}"},
        "name": {"type": "string", "description": "Whose."},
    }


@pytest.mark.parametrize(
    "nullable",
    [
        {"anyOf": [NUMBER, {"type": "null"}], "default": None, "description": "How many."},
        {"type": ["integer", "null"], "minimum": 1, "maximum": 9, "description": "How many."},
    ],
)
def test_null_is_no_second_way_to_leave_a_parameter_out(nullable: dict[str, Any]) -> None:
    text = "How many. {minimum: 1, maximum: 9}"
    assert properties(closed(n=nullable))["n"] == {"type": "integer", "description": text}
    assert {"type": "null"} in properties(closed(("n",), n=nullable))["n"]["anyOf"]


def test_definitions_take_the_places_of_references() -> None:
    schema = closed(("point",), point={"$ref": "#/$defs/Point"})
    schema["$defs"] = {"Point": closed(("x",), x=NUMBER)}
    assert properties(schema)["point"]["properties"]["x"]["type"] == "integer"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        closed(any={}),
        closed(members={"type": "object", "additionalProperties": {"type": "string"}}),
        closed(items={"type": "array"}),
        closed(one={"oneOf": [NUMBER, {"type": "string"}]}),
        closed(one={"anyOf": [NUMBER, {}]}),
        {**closed(more={"$ref": "#/$defs/Node"}), "$defs": {"Node": {"$ref": "#/$defs/Node"}}},
    ],
)
def test_what_does_not_compile_is_not_strict(schema: dict[str, Any]) -> None:
    assert compiled_schema(schema) is None
    assert compiled_tools([tool("a", schema)]) == [
        {"name": "a", "description": "", "input_schema": schema}
    ]


@pytest.mark.parametrize(
    ("schema", "most"),
    [
        (closed(("a",), a=NUMBER), 20),
        ({**closed(), "properties": dict.fromkeys("abcdefgh", NUMBER)}, 3),
        ({**closed(), "properties": dict.fromkeys("abcdefghi", NUMBER)}, 0),
        (closed(("a",), a={"anyOf": [NUMBER, {"type": "null"}]}), 16),
    ],
)
def test_the_first_tools_that_fit_are_strict(schema: dict[str, Any], most: int) -> None:
    tools = compiled_tools([tool(f"t{at}", schema) for at in range(25)])
    assert [at for at, each in enumerate(tools) if "strict" in each] == list(range(most))
    assert strict_problem(tools) is None
    # A tool that is loaded later changes nothing of those in front of it.
    assert compiled_tools([tool(f"t{at}", schema) for at in range(26)])[:25] == tools
