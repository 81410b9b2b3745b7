"""Heads that users write: what is read of them, and when something is wrong."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agent.prompt.frontmatter import read_head, split


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("argument-hint: [from] [to]", "argument-hint", "[from] [to]"),
        ("description: @ada's list", "description", "@ada's list"),
        ("allowed-tools: *", "allowed-tools", "*"),
        ('description: "Fix" it', "description", '"Fix" it'),
        ("description: Fix: it", "description", "Fix: it"),
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
        "description: Fix it model: opus",
    ],
)
def test_lines_with_something_left_open_are_reported(line: str) -> None:
    head = read_head(f"---\nname: x\n{line}\n---\nbody")
    assert head.problem.startswith("the front matter is")
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
def test_a_head_is_read_as_yaml_reads_it(pairs: list[tuple[str, str]]) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in pairs)
    try:
        expected = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return
    head = read_head(f"---\n{text}---\nbody")
    if isinstance(expected, dict):
        assert dict(head.values) == expected
        assert head.problem == ""


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
def test_common_heads_are_read(line: str, value: object) -> None:
    assert read_head(f"---\n# note\n\n{line}\n---\n").values == {"a": value}


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


def test_deep_nesting_is_refused_before_a_parser_sees_it() -> None:
    """Its time grows with the square of the depth."""
    deep = "[" * 5_000 + "]" * 5_000
    assert "it is nested too deeply" in read_head(f"---\na:\n - {deep}\n---\n").problem
    assert read_head(f"---\na: {deep}\n---\n").values == {"a": deep}


@pytest.mark.parametrize(
    ("line", "problem"),
    [("hint: [from] [to]", ""), ("hint: Fix it model: opus", "not valid YAML: line 3")],
)
def test_a_text_that_is_no_yaml_leaves_the_rest_of_the_head_whole(line: str, problem: str) -> None:
    head = read_head(
        f"---\nname: x\n{line}\ntools:\n  - Read\nhooks:\n  Stop:\n    - hooks:\n"
        "        - command: >-\n            check\n            --all\n---\nbody"
    )
    assert head.values == {
        "name": "x",
        "hint": line.removeprefix("hint: "),
        "tools": ["Read"],
        "hooks": {"Stop": [{"hooks": [{"command": "check --all"}]}]},
    }
    assert not head.unread
    assert (problem in head.problem) is True
    assert bool(head.problem) is bool(problem)


@pytest.mark.parametrize(
    "value", ["!!bool x", '!!int ""', "!!timestamp x", "1:" + "10:" * 300 + "0.5"]
)
def test_a_tag_that_fits_nothing_ends_no_start(value: str) -> None:
    text = f"---\nname: x\npaths: {value}\n---\nbody"
    head = read_head(text)
    assert (head.values["name"], head.values["paths"], head.body) == ("x", value, "body")
    assert split(text)[1] == "body"


def test_no_line_breaks_take_long() -> None:
    lines = "\n" * 19_000
    assert read_head(f"---\n{{{{{{{lines}- tools\n---\nbody").unread == {"tools"}
