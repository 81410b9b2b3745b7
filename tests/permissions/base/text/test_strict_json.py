"""JSON that can be written again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.base.text.strict_json import MAX_DEPTH, load_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_what_json_wrote_comes_back(value: object) -> None:
    assert load_json(json.dumps(value, ensure_ascii=False)) == value


@given(st.text(alphabet='{}[]",:0123456789eE+-.NaInfity\\ud8\x00 ', max_size=60))
def test_what_is_read_can_be_written(text: str) -> None:
    try:
        value = load_json(text)
    except ValueError:
        return
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize(
    "nested", ["[" * 200 + "]" * 200, "[" * 100_000, '{"a":' * 300 + "1" + "}" * 300]
)
def test_deep_nesting_is_no_document(nested: str) -> None:
    with pytest.raises(ValueError, match=r"deep|Expecting"):
        load_json(nested)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert load_json("[" + ",".join(["[]"] * 2000) + "]") == [[]] * 2000
    assert load_json("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)) is not None
