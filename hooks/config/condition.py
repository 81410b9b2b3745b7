"""The `if` of a handler: one permission rule, checked before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from permissions.rule import matches
from permissions.rules.grammar import MalformedRule, RuleBehavior, parse_rule


def applies(
    condition: str,
    tool: str,
    tool_input: Mapping[str, object],
    *,
    cwd: Path,
    project_root: Path,
    home: Path,
) -> bool:
    """Return whether a handler with this condition has to run for a call.

    True when in doubt: a command that cannot be analyzed must not bypass a guard.
    """
    try:
        return matches(condition, tool, tool_input, cwd=cwd, project_root=project_root, home=home)
    except Exception:  # noqa: BLE001 - a check that breaks must not switch a guard off
        return True


def condition_problem(condition: str) -> str | None:
    """Return what is wrong with a condition, or None."""
    rule = parse_rule(condition, RuleBehavior.ASK)
    if not isinstance(rule, MalformedRule):
        return None
    return f"`if` {condition!r} is not a permission rule ({rule.message}): the handler never runs"
