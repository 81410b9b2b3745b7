"""Examples that rules carry: calls that a rule promises to match, or not to match."""

from __future__ import annotations

from pathlib import Path

from permissions.matching.condition import matches_call
from permissions.rules.rule_set import Rule
from permissions.tool_names import EDIT_TOOLS, READ_TOOLS

_PLACE = Path("/project")
"""Where relative paths of examples start; nothing is looked up there."""
_HOME = Path("/home/user")


def failed_examples(rule: Rule) -> list[str]:
    """Return one sentence per example that the rule does not keep; [] without examples."""
    if rule.examples is None:
        return []
    found = [
        f"the example {example!r} should match, and does not"
        for example in rule.examples.match
        if not _matches(rule, example)
    ]
    found.extend(
        f"the example {example!r} should not match, and does"
        for example in rule.examples.not_match
        if _matches(rule, example)
    )
    return found


def _matches(rule: Rule, example: str) -> bool:
    tool, tool_input = call_of(rule.tool.text, example)
    return matches_call(rule.text, tool, tool_input, cwd=_PLACE, project_root=_PLACE, home=_HOME)


def call_of(tool: str, text: str) -> tuple[str, dict[str, object]]:
    """Read `Tool(value)` or a bare value as a call; `tool` is the tool of a bare value."""
    name, parenthesis, rest = text.partition("(")
    if (
        parenthesis
        and rest.endswith(")")
        and name.replace("_", "").isalnum()
        and name[:1].isalpha()
    ):
        tool, text = name, rest[:-1]
    elif not parenthesis and text == tool:
        text = ""
    if tool == "Bash":
        return tool, {"command": text}
    key = EDIT_TOOLS.get(tool) or READ_TOOLS.get(tool)
    if key is not None:
        return tool, {key: text} if text else {}
    if tool == "WebFetch":
        host = text.removeprefix("domain:")
        return tool, {"url": host if "://" in host else f"https://{host}/", "prompt": ""}
    if tool in ("Agent", "Task"):
        return tool, {"subagent_type": text} if text else {}
    if tool == "Skill":
        name, _, arguments = text.partition(" ")
        return tool, {"skill": name, **({"args": arguments} if arguments else {})}
    return tool, {}
