"""Which schemas are enforced: those that allow the same with and without it."""

from __future__ import annotations

from typing import Any

import pytest

from agent.model.client import ModelError
from agent.model.dialects.enforced_schema import is_strict_schema, strict_schema
from agent.recovery.classify import FailureKind, classify

NUMBER = {"type": "integer"}
WHOLE: dict[str, Any] = {
    "type": "object",
    "properties": {"n": NUMBER, "list": {"type": "array", "items": NUMBER}},
    "required": ["n", "list"],
    "additionalProperties": False,
}


def test_a_closed_schema_with_all_required_is_one() -> None:
    assert is_strict_schema(WHOLE)
    assert strict_schema(WHOLE) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"required": ["n"]},
        {"additionalProperties": True},
        {"properties": {"n": {"type": "string", "minLength": 2}, "list": NUMBER}},
        {"properties": {"n": {"oneOf": [NUMBER]}, "list": NUMBER}},
        {"properties": {"n": {"type": "object", "properties": {"x": NUMBER}}, "list": NUMBER}},
    ],
)
def test_others_are_not(change: dict[str, Any]) -> None:
    assert not is_strict_schema({**WHOLE, **change})
    assert strict_schema({**WHOLE, **change}) is None


def test_an_answers_schema_is_closed_where_it_says_nothing() -> None:
    open_schema = {key: value for key, value in WHOLE.items() if key != "additionalProperties"}
    assert strict_schema(open_schema) == WHOLE
    assert not is_strict_schema(open_schema)


def test_a_refused_schema_is_asked_for_without_enforcement_first() -> None:
    text = "Invalid schema for function 'Write': In context=(), 'format' is not permitted."
    failure = classify(ModelError("invalid_function_parameters", text, status=400))
    assert (failure.kind, failure.unsupported_field) == (FailureKind.UNSUPPORTED, "strict")


@pytest.mark.parametrize(
    "text",
    [
        "The compiled grammar is too large, which would cause performance issues. Simplify your "
        "tool schemas or reduce the number of strict tools.",
        "Schema is too complex for compilation. Try reducing the number of tools or simplifying "
        "tool schemas.",
        "Schemas contains too many optional parameters (87), which would make grammar compilation "
        "inefficient. Reduce the number of optional parameters in your tool schemas (limit: 24).",
        "Grammar compilation timed out.",
        "Too many strict tools (21).",
        "tools.25.custom: For 'integer' type, properties maximum, minimum are not supported",
        "tools.0.custom.strict: Extra inputs are not permitted",
    ],
)
def test_schemas_that_do_not_compile_cost_the_strict_tools(text: str) -> None:
    failure = classify(ModelError("invalid_request_error", text, status=400))
    assert (failure.kind, failure.unsupported_field) == (FailureKind.UNSUPPORTED, "strict")


def test_a_refused_schema_explains_what_to_do() -> None:
    text = "Invalid JSON schema for function 'mcp__x__y': bad type."
    failure = classify(ModelError("invalid_request_error", text, status=400))
    assert failure.kind is FailureKind.INVALID_REQUEST
    assert "the schema of mcp__x__y" in failure.hint


def test_a_refused_schema_of_the_answer_explains_what_to_do_when_it_was_left_out_in_vain() -> None:
    text = "Invalid schema for response_format 'answer': 'additionalProperties' is required."
    failure = classify(ModelError("invalid_request_error", text, status=400))
    assert failure.kind is FailureKind.UNSUPPORTED
    assert "the schema of the answer: change it" in failure.hint
