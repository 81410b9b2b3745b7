"""Heads that people write: what is read of them, and when something is wrong."""

from __future__ import annotations

import pytest

from agent.prompt.frontmatter import read_head


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
