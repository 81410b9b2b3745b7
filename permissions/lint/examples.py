"""Checks the examples of rules: calls that a rule must match, or must not match."""

from __future__ import annotations

from pathlib import Path

from permissions.matching.condition import matches_call
from permissions.rules.rule_set import Rule
from permissions.tool_names import EDIT_TOOLS, READ_TOOLS

_PLACE = Path("/project")
"""Base of relative paths in examples; the disk is not read."""
_HOME = Path("/home/user")


def failed_examples(rule: Rule) -> list[str]:
    """Return one sentence per example that the rule fails; [] without examples."""
    if rule.examples is None:
        return []
    results = [
        f"the example {example!r} should match, and does not"
        for example in rule.examples.match
        if not _matches(rule, example)
    ]
    results.extend(
        f"the example {example!r} should not match, and does"
        for example in rule.examples.not_match
        if _matches(rule, example)
    )
    return results


def _matches(rule: Rule, example: str) -> bool:
    tool, tool_input = call_of(rule.tool.text, example)
    return matches_call(rule.text, tool, tool_input, cwd=_PLACE, project_root=_PLACE, home=_HOME)


def call_of(tool: str, text: str) -> tuple[str, dict[str, object]]:
    """Read `Tool(value)` or a bare value as a call; `tool` is the tool of a bare value."""
    name, parenthesis, rest = text.partition("(")
    is_named = name.replace("_", "").isalnum() and name[:1].isalpha()
    if parenthesis and rest.endswith(")") and is_named:
        tool, text = name, rest[:-1]
    elif not parenthesis and text == tool:
        text = ""
    return tool, _input_of(tool, text)


_KEYS = {**READ_TOOLS, **EDIT_TOOLS, "Agent": "subagent_type", "Task": "subagent_type"}
"""By tool: the parameter that a bare value names."""


def _input_of(tool: str, text: str) -> dict[str, object]:
    key = _KEYS.get(tool)
    if key is not None:
        return {key: text} if text else {}
    match tool:
        case "Bash":
            return {"command": text}
        case "WebFetch":
            host = text.removeprefix("domain:")
            return {"url": host if "://" in host else f"https://{host}/", "prompt": ""}
        case "Skill":
            name, _, arguments = text.partition(" ")
            return {"skill": name, **({"args": arguments} if arguments else {})}
        case _:
            return {}
