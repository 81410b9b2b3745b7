"""YAML that is not trusted: a value that can be written again, or one error."""

from __future__ import annotations

import json
from datetime import date

import pytest

from permissions.base.text.strict_yaml import NotYaml, load_yaml

HEX = "0x" + "F" * 15_000


@pytest.mark.parametrize("tag", ["bool", "int", "float", "timestamp", "null", "binary", "str", "x"])
@pytest.mark.parametrize("text", ["x", '""', "_", "é", "[1]", "{=: x}", "0x_", "7:" * 400, "."])
def test_a_tag_on_a_text_that_does_not_fit_is_no_other_error(tag: str, text: str) -> None:
    try:
        value = load_yaml(f"a: !!{tag} {text}")
    except NotYaml:
        return
    assert len(json.dumps(value, default=str)) < 1_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"a: {HEX}", "a number is too large"),
        (f"? {HEX}\n: a", "a number is too large"),
        ("a: [" + ":".join(["1"] * 6_000) + "]", "a number is too large"),
        ("a: 1:" + "10:" * 300 + "0.5", "int too large to convert to float"),
        ("a: .inf", "inf is no number"),
        ("a: &x [*x]", "aliases"),
        ("a: " + "[" * 300, "nested too deeply"),
        ("- " * 9_000 + "a", "recursion"),
        ("a: 2026-99-99", "month"),
    ],
    ids=range(9),
)
def test_a_value_that_cannot_be_written_again_is_refused(text: str, problem: str) -> None:
    with pytest.raises(NotYaml, match=problem):
        load_yaml(text)


def test_a_mistake_has_its_line() -> None:
    with pytest.raises(NotYaml) as caught:
        load_yaml("a: 1\nb: c: d")
    assert caught.value.line == 2


def test_what_is_ordinary_is_read() -> None:
    text = "a: &x [1, 2.5, yes]\nb: *x\nc: 2026-11-29\n"
    assert load_yaml(text) == {"a": [1, 2.5, True], "b": [1, 2.5, True], "c": date(2026, 11, 29)}
