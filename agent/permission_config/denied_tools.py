"""The tools that a rule denies entirely, so that the model is not offered them."""

from __future__ import annotations

from collections.abc import Iterable

from permissions.rules.grammar import RuleBehavior
from permissions.rules.rule_set import RuleSet
from permissions.tool_names import EDIT_TOOLS


def denied_tools(rules: RuleSet, names: Iterable[str]) -> frozenset[str]:
    """Return the names that a deny rule without a pattern matches.

    A rule for Edit matches every editing tool, as in decisions about calls.
    """
    denying = [
        rule.tool
        for rule in rules.rules
        if rule.behavior is RuleBehavior.DENY and rule.is_tool_wide
    ]
    return frozenset(
        name
        for name in names
        for tool in denying
        if tool.matches(name) or (name in EDIT_TOOLS and tool.matches("Edit"))
    )
