"""Records from JSON: what fits is read, what does not is left out and named."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct, field

from agent.typed_json.read_record import Problem, as_values, read_record
from agent.typed_json.record_schema import record_schema


class Part(Struct, frozen=True, kw_only=True):
    """A part."""

    name: str
    size: Annotated[int, Meta(ge=0, le=40)] = 7


class Whole(Struct, frozen=True, kw_only=True):
    """A whole."""

    text: str | None = None
    count: Annotated[int, Meta(gt=0)] | None = None
    share: Annotated[float, Meta(lt=1)] | None = None
    is_on: bool | None = None
    level: Literal["low", "high"] | None = None
    names: str | list[str] | None = None
    words: Annotated[list[str], Meta(min_length=1, description="Words.")] | None = None
    by_name: dict[str, bool] | None = None
    parts: list[Part] | None = None
    anything: dict[str, Any] | None = None


@pytest.mark.parametrize(
    ("raw", "values", "problems"),
    [
        ({}, {}, ()),
        ({"text": None, "unknown": 1}, {}, ()),
        ({"text": 5}, {}, ((("text",), "expected a string"),)),
        ({"count": 3, "share": 0}, {"count": 3, "share": 0.0}, ()),
        ({"count": True}, {}, ((("count",), "expected a whole number"),)),
        ({"count": 2.0}, {}, ((("count",), "expected a whole number"),)),
        ({"count": 0}, {}, ((("count",), "expected greater than 0"),)),
        ({"share": 1}, {}, ((("share",), "expected less than 1"),)),
        ({"share": "0.5"}, {}, ((("share",), "expected a number"),)),
        ({"is_on": 1}, {}, ((("is_on",), "expected true or false"),)),
        ({"level": "mid"}, {}, ((("level",), "expected 'low' or 'high'"),)),
        ({"level": ["low"]}, {}, ((("level",), "expected 'low' or 'high'"),)),
        ({"names": ["a"]}, {"names": ["a"]}, ()),
        ({"names": ["a", 5]}, {}, ((("names",), "expected a string"),)),
        ({"words": ["a", 5, "b"]}, {"words": ["a", "b"]}, ((("words", 1), "expected a string"),)),
        ({"words": []}, {}, ((("words",), "expected at least 1 in it"),)),
        ({"words": {}}, {}, ((("words",), "expected a list"),)),
        (
            {"by_name": {"a": True, "b": "no"}},
            {"by_name": {"a": True}},
            ((("by_name", "b"), "expected true or false"),),
        ),
        ({"by_name": []}, {}, ((("by_name",), "expected an object"),)),
        (
            {"parts": [{"name": "a"}, {"size": 1}, {"name": 2}, 5, {"name": "b", "size": 41}]},
            {"parts": [{"name": "a", "size": 7}, {"name": "b", "size": 7}]},
            (
                (("parts", 1), "expected 'name' in it"),
                (("parts", 2, "name"), "expected a string"),
                (("parts", 3), "expected an object"),
                (("parts", 4, "size"), "expected less than or equal to 40"),
            ),
        ),
        ({"anything": {"a": [1, {}]}}, {"anything": {"a": [1, {}]}}, ()),
    ],
)
def test_what_does_not_fit_is_left_out(
    raw: dict[str, object], values: dict[str, object], problems: tuple[Problem, ...]
) -> None:
    record, found = read_record(Whole, raw)
    assert record is not None
    assert (as_values(record), found) == (values, problems)


def test_a_record_that_lacks_a_field_is_none() -> None:
    assert read_record(Part, {}) == (None, (((), "expected 'name' in it"),))


class Call(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model writes."""

    count: int = 0
    share: float = 0.0
    is_on: bool = False
    name: Annotated[str, Meta(pattern="^[a-z]+$", max_length=3)] = ""
    ignore_case: bool = field(default=False, name="-i")


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ({"count": "120", "share": "1.5"}, {"count": 120, "share": 1.5}),
        ({"count": 3.0, "is_on": "True"}, {"count": 3, "is_on": True}),
        ({"-i": True}, {"ignore_case": True}),
        ({"ignore_case": "false"}, {}),
    ],
)
def test_what_a_model_writes_as_text_is_understood(
    raw: dict[str, object], values: dict[str, Any]
) -> None:
    assert read_record(Call, raw, is_lax=True) == (Call(**values), ())


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ({"count": "many"}, "count"),
        ({"count": "1" * 400}, "count"),
        ({"count": 2.5}, "count"),
        ({"count": True}, "count"),
        ({"is_on": "on"}, "is_on"),
        ({"name": 5}, "name"),
        ({"name": "abcd"}, "name"),
        ({"name": "A"}, "name"),
        ({"other": 1}, "other"),
    ],
)
def test_what_is_not_meant_is_named(raw: dict[str, object], place: str) -> None:
    assert [path for path, _ in read_record(Call, raw, is_lax=True)[1]] == [(place,)]


def test_the_schema_has_the_names_that_models_write() -> None:
    schema = record_schema(Call)
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == ["count", "share", "is_on", "name", "-i"]
    assert schema["properties"]["name"] == {
        "default": "", "maxLength": 3, "pattern": "^[a-z]+$", "type": "string",
    }  # fmt: skip


def test_the_schema_says_what_is_read() -> None:
    schema = record_schema(Whole)
    assert list(schema["properties"]) == list(Whole.__struct_fields__)
    assert schema["properties"]["level"] == {
        "anyOf": [{"enum": ["low", "high"], "type": "string"}, {"type": "null"}],
        "default": None,
    }
    part = schema["properties"]["parts"]["anyOf"][0]["items"]
    assert part["required"] == ["name"]
    assert part["properties"]["size"] == {
        "default": 7, "maximum": 40, "minimum": 0, "type": "integer",
    }  # fmt: skip
    words = schema["properties"]["words"]["anyOf"][0]
    assert words == {
        "description": "Words.", "items": {"type": "string"}, "minItems": 1, "type": "array",
    }  # fmt: skip
