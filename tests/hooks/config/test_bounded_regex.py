"""Patterns of matchers: they mean what `re` means, and none of them can hold the program."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hooks.config.bounded_regex import LONGEST_VALUE_CHARS, BoundedRegex, UnboundedPattern
from hooks.config.match import MatchNothing, MatchPattern, parse_matcher

ATOMS = [
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    "[]a]",
    "[^]b]",
    r"[a\]-]",
    r"\w",
    r"\D",
    r"\x61",
    r"\141",
    r"\.",
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    r"\Z",
    "{",
    "}",
    "{٣}",
    "é",
    "_",
]
REPEATS = ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "{,}", "{0}", "*?", "+?", "??"]
GROUPS = ["(", "(?:", "(?i:", "(?a:", "(?u:", "(?s-i:", "(?=", "(?!", "(?<=", "(?<!"]


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    grouped = st.builds("{}{})".format, st.sampled_from(GROUPS), inner)
    return st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("{}|{}".format, inner, inner),
        grouped,
        st.builds("(?:{}){}".format, inner, st.sampled_from(REPEATS)),
    )


patterns = st.recursive(st.sampled_from(ATOMS), _larger, max_leaves=8)


@given(pattern=patterns, values=st.lists(st.text("abAB_1\n{}é]", max_size=6), max_size=8))
def test_a_bounded_search_finds_what_re_finds(pattern: str, values: list[str]) -> None:
    try:
        expected = re.compile(pattern)
    except (re.error, OverflowError):
        assume(False)
    try:
        bounded = BoundedRegex(pattern)
    except UnboundedPattern:
        assume(False)
    found = {value: bounded.search(value) for value in values}
    assert found == {value: expected.search(value) is not None for value in values}


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "^(a|a)*$",
        "(.*)*x$",
        ".*.*.*.*.*.*.*.*.*.*x$",
        "^(a?){60}a{60}$",
        "(?=(a|aa)*b)x",
        "(?<!c)(?:(?:a*)*)*b",
    ],
)
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    assert BoundedRegex(pattern).search("a" * (LONGEST_VALUE_CHARS - 1) + "!") is False


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "refers back"),
        ("(?P<x>a)(?P=x)", "reference"),
        ("(?>a*)b", "atomic"),
        ("a*+b", "gives nothing back"),
        ("(a)(?(1)b|c)", "condition"),
        ("(?x)a b", "flag 'x'"),
        ("((a{9}){9}){99}", "too long"),
        ("(?:(?=a{99})){99}", "too long"),
        ("(?:(?!(?:(?<=a{99})){99})b){99}", "too long"),
        ("(" * 60 + "a" + ")" * 60, "too deeply"),
    ],
)
def test_what_cannot_be_bounded_is_refused_with_its_reason(pattern: str, why: str) -> None:
    parsed = parse_matcher(pattern)
    assert isinstance(parsed, MatchNothing)
    assert "could take forever" in parsed.reason
    assert why in parsed.reason


@pytest.mark.parametrize("pattern", ["a{٣}", "(?a:(?u:é))", "(?a)(?u:[é])", r"\(?<é", "[(?<é]"])
def test_what_only_looks_like_something_else_means_what_re_means(pattern: str) -> None:
    parsed = parse_matcher(pattern)
    assert isinstance(parsed, MatchPattern)
    for value in ("a{٣}", "aaa", "é", "<é", "P"):
        assert parsed.pattern.search(value) is bool(re.search(pattern, value))


def test_lists_of_names_do_not_load_the_reader_of_patterns() -> None:
    program = (
        "import sys, hooks.config.match as m; m.parse_matcher('Edit|Write'); "
        "print('hooks.config.regex_program' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert printed.stdout == "False\n"
