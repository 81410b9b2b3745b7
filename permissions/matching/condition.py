"""A rule pattern used as a condition: whether this one pattern matches a call.

Hooks use it for `if`. In doubt it matches, since the hook may be a guard: a command that cannot be
parsed matches every Bash pattern.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from permissions.context import PermissionContext
from permissions.matching.match_domain import host_of
from permissions.matching.match_tool import Anchors, RuleSubject, rule_matches
from permissions.mode import Mode
from permissions.paths.resolve import Target, resolve
from permissions.rules.grammar import MalformedRule, RuleBehavior, WholeTool, parse_rule
from permissions.rules.rule_set import Rule, RuleSet, RuleSource
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END, BashPattern
from permissions.shell.syntax import Unparsable
from permissions.tool_names import EDIT_TOOLS, READ_TOOLS, canonical_tool


def matches_call(
    pattern_text: str,
    tool: str,
    tool_input: Mapping[str, object],
    *,
    cwd: Path,
    project_root: Path,
    home: Path,
) -> bool:
    """Return whether the pattern matches the call; a malformed pattern never does."""
    parsed_rule = parse_rule(pattern_text, RuleBehavior.ASK)
    if isinstance(parsed_rule, MalformedRule):
        return False
    name = canonical_tool(tool)
    if not parsed_rule.tool.matches(name):
        return False
    if isinstance(parsed_rule.specifier, WholeTool):
        return True
    if isinstance(parsed_rule.specifier, BashPattern):
        return _matches_command(parsed_rule.specifier, tool_input.get("command"), cwd, home)
    rule = Rule(
        pattern_text,
        # An allow rule treats `dir/**` as anchored, as documented for conditions.
        RuleBehavior.ALLOW if _is_directory_pattern(pattern_text) else RuleBehavior.ASK,
        RuleSource.PROJECT,
        None,
        None,
        parsed_rule.tool,
        parsed_rule.specifier,
    )
    context = PermissionContext(Mode.DEFAULT, RuleSet(), cwd, project_root, home)
    target = _target(name, tool_input, context)
    call = RuleSubject(name, tool_input, target, host_of(tool_input.get("url")))
    return rule_matches(rule, call, Anchors(context))


def _target(
    tool: str, tool_input: Mapping[str, object], context: PermissionContext
) -> Target | None:
    key = EDIT_TOOLS.get(tool) or READ_TOOLS.get(tool)
    path_value = tool_input.get(key) if key else None
    if not isinstance(path_value, str) and (key != "path" or path_value is not None):
        return None
    return resolve(
        path_value or "." if isinstance(path_value, str) else ".",
        base=os.path.abspath(context.launch_dir),
        home=str(context.home),
        files=context.files,
    )


def _is_directory_pattern(text: str) -> bool:
    return text.rstrip(")").endswith("/**") and not text.partition("(")[2].startswith("**/")


def _matches_command(pattern: BashPattern, command: object, cwd: Path, home: Path) -> bool:
    from permissions.shell.analyze import analyze  # with the first command

    if not isinstance(command, str):
        return True
    facts = analyze(command, os.path.abspath(cwd), str(home))
    if isinstance(facts, Unparsable):
        return True
    if _has_arguments(pattern) and any(mark in command for mark in ("$", "`")):
        return True
    return any(_fits(pattern, one) for one in facts)


def _has_arguments(pattern: BashPattern) -> bool:
    """Whether the pattern covers more than a command's name."""
    literal = pattern.bare if pattern.bare is not None else pattern.full
    return WORD_END in literal.chunks[0] or not literal.is_exact


def _fits(pattern: BashPattern, facts: CommandFacts) -> bool:
    if not facts.has_literal_program or facts.unknown_reason:
        return True
    own = any(
        pattern.may_match(form.joined_text)
        if form.joined_text
        else pattern.matches_whole(form.spaced_text)
        for form in facts.deny_forms
    )
    return own or any(_fits(pattern, inner) for inner in facts.inner)
