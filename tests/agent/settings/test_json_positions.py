"""The JSON reader agrees with the standard one, knows lines, and keeps the part before an error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.settings.json_positions import MAX_DEPTH, JsonNode, parse

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


def refuse(constant: str) -> None:
    raise ValueError(constant)


@given(JSON, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_valid_json_reads_as_with_the_standard_parser(
    value: object, indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    parsed = parse(text)
    assert parsed.error is None
    assert parsed.root is not None
    assert parsed.root.value == value == json.loads(text)


@given(JSON, st.data())
def test_damaged_json_is_an_error_exactly_where_the_standard_parser_sees_one(
    value: object, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=1)
    at = data.draw(st.integers(0, len(text)))
    put_in = data.draw(st.sampled_from(["", ",", "]", "}", '"', "x", "0", "\\", "\n"]))
    text = text[:at] + put_in + text[at + data.draw(st.integers(0, 1)) :]
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        is_valid = False
    else:
        is_valid = True
    parsed = parse(text)
    assert (parsed.error is None) == is_valid, text
    if parsed.error is not None:
        assert 1 <= parsed.error.line <= text.count("\n") + 1


@given(st.text(alphabet='{}[]",:\\ \ntfn01ae.-/'))
def test_no_text_makes_it_raise(text: str) -> None:
    parse(text)


@given(st.dictionaries(st.text(min_size=1), st.lists(st.integers(), max_size=3), max_size=5))
def test_every_part_knows_its_line(value: dict[str, list[int]]) -> None:
    text = json.dumps(value, indent=2)
    root = parse(text).root
    assert root is not None
    by_newline = text.split("\n")
    for key, numbers in value.items():
        assert by_newline[root.line_of(key) - 1].startswith(f"  {json.dumps(key)}:")
        for index, number in enumerate(numbers):
            assert by_newline[root.line_of(key, index) - 1].strip(" ,") == str(number)


@pytest.mark.parametrize(
    ("text", "line", "message", "kept"),
    [
        ('{"a": 1,\n "b": }', 2, "expected a value, found '}'", {"a": 1}),
        ('{"a": [1, 2,\n]}', 2, 'comma before "]"', {"a": [1, 2]}),
        ('{"a": {"b": 1\n"c": 2}}', 2, 'expected "," or "}"', {"a": {"b": 1}}),
        ('{\n// note\n"a": 1}', 2, "a comment (JSON has none)", {}),
        ('{"a": 1', 1, "found the end of the file", {"a": 1}),
        ("{'a': 1}", 1, "expected a key in double quotes", {}),
        ('{"a": 1} x', 1, "expected the end of the file", {"a": 1}),
        ('{"a": 1, "b": "x\n"}', 1, "text without a closing quote", {"a": 1}),
        ('{"a": 1, "b": NaN}', 1, "expected a value", {"a": 1}),
    ],
)
def test_errors_say_where_and_what_and_keep_the_part_before(
    text: str, line: int, message: str, kept: object
) -> None:
    parsed = parse(text)
    assert parsed.error is not None
    assert parsed.error.line == line
    assert message in parsed.error.message
    assert parsed.root is not None
    assert parsed.root.value == kept


def test_a_repeated_list_adds_up_and_is_noted() -> None:
    parsed = parse('{"deny": ["a"],\n"deny": ["b"], "x": 1, "x": 2}')
    assert parsed.root is not None
    assert parsed.root.value == {"deny": ["a", "b"], "x": 2}
    assert [(note.line, note.message) for note in parsed.notes] == [
        (2, 'key "deny" appears twice (first on line 1)'),
        (2, 'key "x" appears twice (first on line 2)'),
    ]


def test_nesting_is_bounded() -> None:
    deep = MAX_DEPTH + 1
    parsed = parse("[" * deep + "]" * deep)
    assert parsed.error is None or "nested deeper" in parsed.error.message
    assert parse("[" * 100_000).error is not None


def test_a_byte_order_mark_is_no_error() -> None:
    assert parse("\ufeff{}").root == JsonNode({}, 1)
