"""Matchers: lists of exact names, regular expressions, and what neither is."""

from __future__ import annotations

import pytest

from hooks.config.lint import lint_matcher
from hooks.config.match import (
    LONGEST_VALUE_CHARS,
    MatchEverything,
    MatchNothing,
    MatchPattern,
    covers,
    parse_matcher,
)


@pytest.mark.parametrize(
    ("matcher", "value", "expected"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("bash", "Bash", False),
        ("Edit|Write", "Write", True),
        ("Edit, Write", "Write", True),
        ("Edit|Write", "MultiEdit", False),
        ("mcp__memory", "mcp__memory__create", False),
        ("mcp__memory__.*", "mcp__memory__create", True),
        ("Edit.*", "NotebookEdit", True),
        ("^Edit", "NotebookEdit", False),
        (".*", "anything", True),
        ("(?<tool>Bash)", "Bash", True),
        ("Task", "Agent", True),
        ("Agent", "Task", True),
        ("Agent", "Agent", True),
        ("KillShell", "TaskStop", True),
        ("Bash(git *)", "Bash", False),
        ("[", "Bash", False),
    ],
)
def test_a_matcher_covers_what_the_contract_says(
    matcher: str | None, value: str, expected: bool
) -> None:
    assert covers(parse_matcher(matcher), value) is expected


@pytest.mark.parametrize("kind", ["Explore", "explore"])
@pytest.mark.parametrize("matcher", ["Explore", "explore", "Plan|Explore", "^Expl", "^expl"])
def test_kinds_of_agents_match_whatever_their_case(matcher: str, kind: str) -> None:
    assert covers(parse_matcher(matcher), kind, is_agent=True)
    assert not covers(parse_matcher(matcher), "reviewer", is_agent=True)


def test_a_strict_matcher_is_an_expression_as_soon_as_it_has_a_dash() -> None:
    assert covers(parse_matcher("rate-limit"), "xrate-limitx") is False
    assert covers(parse_matcher("rate-limit", strict_exact=True), "xrate-limitx") is True


def test_a_broken_expression_gives_the_reason_and_covers_nothing() -> None:
    parsed = parse_matcher("(unclosed")
    assert isinstance(parsed, MatchNothing)
    assert "not a regular expression" in parsed.reason


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "^(a|a)*$",
        "(.*)*x$",
        ".*.*.*x$",
        "^(a?){60}a{60}$",
        "(?=(a|aa)*b)x",
        "(?<!c)(?:(?:a*)*)*b",
        "a?" * 30 + "a" * 30,
        "(a|a)" * 30 + "b",
        "a{1,60}a{1,60}a{1,60}b",
    ],
)
def test_a_pattern_that_could_take_forever_covers_everything(pattern: str) -> None:
    parsed = parse_matcher(pattern)
    assert isinstance(parsed, MatchEverything)
    assert covers(parsed, "a" * 60 + "!")
    assert any("could take forever" in one for one in lint_matcher("PreToolUse", pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        "^(?!Read).*$",
        "mcp__(memory|filesystem)__.*(write|delete).*",
        "^(?:Edit|Write|Bash(?:Output)?)$",
        "mcp__a__.*x|mcp__b__.*y|mcp__c__.*z",
        r"mcp__\w+__(read|list)_.*",
        "[*+?()|]+",
        "Write|Chat__(send|plan|list)|mcp__.*(?:chat_(?:send|plan|list)|tasks.*save_)",
        "(?x)mcp__ # )\n.*",
    ],
)
def test_patterns_that_users_write_are_searched_for(pattern: str) -> None:
    parsed = parse_matcher(pattern)
    assert isinstance(parsed, MatchPattern)
    assert parsed.pattern.pattern == pattern
    assert list(lint_matcher("PreToolUse", pattern)) == []


def test_a_name_that_is_too_long_to_be_searched_is_covered() -> None:
    assert covers(parse_matcher("^(?!Read).*$"), "Read" + "a" * LONGEST_VALUE_CHARS)
