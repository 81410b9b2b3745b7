"""Heads that users write: what is read of them, and when something is wrong."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agent.prompt.frontmatter import read_head, read_long, read_short


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("argument-hint: [from] [to]", "argument-hint", "[from] [to]"),
        ("description: @ada's list", "description", "@ada's list"),
        ("allowed-tools: *", "allowed-tools", "*"),
        ('description: "Fix" it', "description", '"Fix" it'),
    ],
)
def test_lines_that_are_no_yaml_but_whole_are_fine(line: str, key: str, value: str) -> None:
    head = read_head(f"---\nname: x\n{line}\n---\nbody")
    assert (head.values["name"], head.values[key], head.problem) == ("x", value, "")
    assert head.body == "body"


@pytest.mark.parametrize(
    "line",
    [
        "description: [",
        'description: "open',
        "  - a\nname",
        "description: {a",
        "{{{",
        "description: Fix: it",
    ],
)
def test_lines_with_something_left_open_are_reported(line: str) -> None:
    head = read_head(f"---\nname: x\n{line}\n---\nbody")
    assert head.problem.startswith("the head is")
    assert head.body == "body"


VALUES = st.one_of(
    st.sampled_from(
        ["true", "No", "null", "3", "Bash(git add:*), Read", "a: b", "a #b", "a#b", "it's", "x:",
         "/a/b", "$x", "(y)", "[a]", "~", "2026-11-21", "", " padded ", 'say "hi"', "1e3", "y"]
    ),
    st.text(alphabet="aZ 0:#-'\"[],.$/()*&!|>%@`~", max_size=12),
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["name", "description", "a-b"]), VALUES), max_size=4))
@example([("name", "!")])
def test_the_short_way_reads_what_yaml_reads(pairs: list[tuple[str, str]]) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in pairs)
    try:
        expected = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return
    head = read_head(f"---\n{text}---\nbody")
    if isinstance(expected, dict):
        assert dict(head.values) == expected
        assert head.problem == ""


KEYS = st.sampled_from(
    ["name", "description", "argument-hint", "a_b", "On", "null", "x" * 70, "1", " a"]
)
SHORT_VALUES = st.sampled_from(
    ["true", "False", "[a]", "[a b]", "[a, b-c]", "[a,b]", "[a] [b]", "[no, a]", "[a, ]", "[]",
     '"Fix: it"', '"a # b"', '"a\\nb"', "'it''s'", "'a: b'", '"a" b', "(open", "a) [b", "a {b",
     "/a/b:c", "$x", "Bash(git add:*), Read", "[null]", "[a.b/c]", "[a] [b", "a\tb", "a\u2028b",
     "a\x85b", "\ufeffa", "a\x0cb", "a\x00b", "spät", "a\xa0", "🙂", "a 🙂", "=", "<<", "y", "N"]
)  # fmt: skip
HEADS = st.lists(
    st.one_of(
        st.tuples(KEYS, SHORT_VALUES | VALUES).map(": ".join),
        st.sampled_from(["", "# said", " ", "  more", "- a", "...", "a", "\r"]),
    ),
    max_size=5,
).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(HEADS | st.text(alphabet="a:# \n[]{}'\",-.\t&!*|>%@`~<=?", max_size=30))
def test_the_short_way_never_differs_from_the_long_one(head: str) -> None:
    short = read_short(head)
    if short is not None:
        long = read_long(head, "body")
        # Written out, for 1 and True are equal.
        assert (repr(short), "") == (repr(dict(long.values)), long.problem)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: plain text", "plain text"),
        ("a: [one, two]", ["one", "two"]),
        ("a: [one] [two]", "[one] [two]"),
        ("a: 'Fix: it'", "Fix: it"),
        ("a: true", True),
        ("a: später", "später"),
    ],
)
def test_what_people_write_goes_the_short_way(line: str, value: object) -> None:
    assert read_short(f"# said\n\n{line}\n") == {"a": value}


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_reported_and_survived(opening: str) -> None:
    head = read_head(f"---\nname: x\nb: {opening * 4_000}\n---\nbody")
    assert head.body == "body"
    assert head.problem or head.values


def test_aliases_that_stand_for_billions_are_taken_as_they_are_written() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    head = read_head("---\n" + "\n".join([*lines, "hint: *i"]) + "\n---\nbody")
    assert (head.values["hint"], head.body) == ("*i", "body")


def test_an_alias_of_itself_is_taken_as_it_is_written() -> None:
    head = read_head("---\na: &a [*a]\n---\n")
    assert "*a" in str(head.values["a"])


def test_aliases_that_stand_for_little_count() -> None:
    assert read_head("---\na: &a [x, y]\nb: *a\n---\n").values["b"] == ["x", "y"]
