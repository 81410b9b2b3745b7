"""Entries of rule lists in JSON: a text, or `{"rule", "match", "notMatch"}`. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from permissions.rules.rule_set import RuleBehavior, RuleExamples, RuleSource, RuleText

_NO_RULE: Final = """a rule is a string such as "Bash(git status)", or an object with 'rule'"""
_BAD_EXAMPLES: Final = "'match' and 'notMatch' are lists of strings"
COUNTS: Final = "; the name is used anyway"
IGNORED: Final = "; it is ignored"
"""The effects of an entry that is not a rule, in words."""


def rule_texts(
    entry: object,
    behavior: RuleBehavior,
    source: RuleSource,
    file: str | None = None,
    line: int | None = None,
) -> tuple[RuleText, ...]:
    """Read one entry of a rule list. Never raises.

    An entry of another shape comes back as a text with `invalid` set. In deny and ask lists the
    texts inside are used as rules: a restriction must not get lost because of wrong brackets.
    """
    if isinstance(entry, str):
        return (RuleText(entry, behavior, source, file, line),)
    problem = _NO_RULE
    if isinstance(entry, Mapping) and isinstance(entry.get("rule"), str):
        match, not_match = entry.get("match", []), entry.get("notMatch", [])
        if are_texts(match) and are_texts(not_match):
            examples = RuleExamples(tuple(match), tuple(not_match))
            return (RuleText(entry["rule"], behavior, source, file, line, examples),)
        problem = _BAD_EXAMPLES
    inner = () if behavior is RuleBehavior.ALLOW else tuple(_texts_in(entry))
    effect = COUNTS if inner else IGNORED
    entry_json = json.dumps(entry, ensure_ascii=False, default=str)
    invalid = RuleText(entry_json, behavior, source, file, line, invalid=problem + effect)
    return (invalid, *(RuleText(text, behavior, source, file, line) for text in inner))


def are_texts(value: object) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _texts_in(entry: object) -> Iterator[str]:
    """Yield the texts of nested lists, and the value of `rule`."""
    waiting = [entry]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting.append(value.get("rule"))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
