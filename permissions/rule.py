"""The public interface of rules: their types, and the match of a single pattern."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from permissions.rules.grammar import RuleBehavior
from permissions.rules.rule_set import Rule, RuleExamples, RuleIndex, RuleSet, RuleSource, RuleText

__all__ = [
    "Rule",
    "RuleBehavior",
    "RuleExamples",
    "RuleIndex",
    "RuleSet",
    "RuleSource",
    "RuleText",
    "matches",
]


def matches(
    pattern_text: str,
    tool: str,
    tool_input: Mapping[str, object],
    *,
    cwd: Path,
    project_root: Path,
    home: Path,
) -> bool:
    """Return whether the pattern matches the call, as in the condition (`if`) of a hook.

    The pattern is compared with the called tool's own name and path. A malformed pattern matches
    nothing; a command that cannot be parsed matches every Bash pattern.
    """
    # The shell parser loads with the first condition, not with the settings that contain it.
    from permissions.matching.condition import matches_call

    return matches_call(
        pattern_text, tool, tool_input, cwd=cwd, project_root=project_root, home=home
    )
