"""What restricts stays in force when a settings file has a syntax error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.settings.file import parse_settings
from agent.settings.rules import rules_of
from agent.typed_json.read_record import as_values
from permissions.rule import RuleSource


def rules(text: str) -> list[tuple[str, str, int | None]]:
    loaded = parse_settings(text, RuleSource.USER, None)
    assert loaded.is_broken
    assert loaded.warnings[0].level == "error"
    return [(str(rule.behavior), rule.text, rule.line) for rule in rules_of(loaded)[0]]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{// why\n"permissions": {"deny": ["A"]}}', [("deny", "A", 2)]),
        ('{/* why\n*/"permissions": {"deny": ["A", "B",], "ask": ["C"],},}',
         [("deny", "A", 2), ("deny", "B", 2), ("ask", "C", 2)]),
        ('{"model": "x"\n "permissions": {"deny": ["A"]}}', [("deny", "A", 2)]),
        ('{"permissions": {"deny": ["A" "B"], "ask": ["C"]}}',
         [("deny", "A", 1), ("deny", "B", 1), ("ask", "C", 1)]),
        ("{'model': 'x', \"permissions\": {\"deny\": [\"A\"]}}", [("deny", "A", 1)]),
        ('{"permissions": {"deny": ["Read(//a/**)"], # all\n "ask": ["C"]}}',
         [("deny", "Read(//a/**)", 1), ("ask", "C", 2)]),
        ('{"permissions": {"deny": ["A"]', [("deny", "A", 1)]),
        ('{"permissions": 3 "deny": ["A"]}', [("deny", "A", 1)]),
        ("nothing of the kind", []),
    ],
    ids=["comment", "commas", "no-comma", "in-list", "quotes", "hash", "cut", "odd", "garbage"],
)  # fmt: skip
def test_deny_and_ask_rules_count_behind_a_mistake(
    text: str, kept: list[tuple[str, str, int | None]]
) -> None:
    assert rules(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"permissions": {"allow": ["Read(src/**)],\n"deny": ["Read(**/.env)", "B"]}}',
         "Read(**/.env) B"),
        ('{"permissions": {"allow": ["Read(a/**), "Edit(/**)"],\n"deny": ["B"]}}', "B"),
        ('{"permissions": {"deny": ["Read(a/**), "B", "C"],\n"ask": []}}', "Read(a/**) B C"),
        (r'{"permissions": {"deny": ["A", "Read(C:\U\*)", "B"]}}', r"A Read(C:\U\*) B"),
        ('{"permissions": {"deny": [A, \'B\', "C"]}}', "A B C"),
        ('{"permissions": {"deny": ["A", "B"\n"allow": ["C"]}}', "A B"),
        ('{"permissions": {"deny": ["A" "B", // "C"\n/* "D", */ "E"]}}', "A B E"),
        ('{"x": "echo \\"deny\\": [\\"A\\"]" "permissions": {"deny": ["B"]}}', "B"),
    ],
    ids=["glob", "globs", "quote", "escape", "bare", "bracket", "comments", "inside"],
)  # fmt: skip
def test_a_missing_quote_or_comma_takes_no_rule_with_it(text: str, kept: str) -> None:
    assert [rule for behavior, rule, _ in rules(text) if behavior == "deny"] == kept.split()


def test_what_widens_access_does_not_count() -> None:
    text = '{// why\n"permissions": {"allow": ["A"], "defaultMode": "plan"}, "blockedHosts": ["h"]}'
    loaded = parse_settings(text, RuleSource.USER, None)
    assert rules(text) == []
    assert as_values(loaded.model) == {"permissions": {}, "blockedHosts": ["h"]}


NAMES = st.text(min_size=1, max_size=12)


@given(deny=st.lists(NAMES, max_size=3), ask=st.lists(NAMES, max_size=3), data=st.data())
def test_a_comment_between_any_two_lines_takes_no_rule(
    deny: list[str], ask: list[str], data: st.DataObject
) -> None:
    lines = json.dumps({"model": "x", "permissions": {"deny": deny, "ask": ask}}, indent=1).split(
        "\n"
    )
    at = data.draw(st.integers(0, len(lines)))
    comment = data.draw(st.sampled_from(['// it\'s "so"', "# {", "/* ]\n} */"]))
    found = rules("\n".join([*lines[:at], comment, *lines[at:]]))
    assert [text for behavior, text, _ in found if behavior == "deny"] == deny
    assert [text for behavior, text, _ in found if behavior == "ask"] == ask
