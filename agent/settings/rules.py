"""Permission rules of a settings file, each with its file and line."""

from __future__ import annotations

from collections.abc import Mapping

from agent.settings.file import LoadedFile, SettingsWarning
from agent.settings.json_positions import JsonNode
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_entry import rule_texts


def rules_of(settings_file: LoadedFile) -> tuple[tuple[RuleText, ...], tuple[SettingsWarning, ...]]:
    """Return a file's rules in order; allow rules of a broken file are left out."""
    rules: list[RuleText] = []
    warnings: list[SettingsWarning] = []
    for behavior in (RuleBehavior.DENY, RuleBehavior.ASK, RuleBehavior.ALLOW):
        file = str(settings_file.path) if settings_file.path else None
        for index, entry in enumerate(_entries(settings_file, behavior)):
            key = f"permissions.{behavior.value}.{index}"
            for rule in rule_texts(entry.value, behavior, settings_file.source, file, entry.line):
                if rule.invalid is None:
                    rules.append(rule)
                else:
                    warnings.append(
                        SettingsWarning(rule.invalid, settings_file.path, entry.line, key)
                    )
    return tuple(rules), tuple(warnings)


def _entries(settings_file: LoadedFile, behavior: RuleBehavior) -> tuple[JsonNode, ...]:
    node = settings_file.root.get("permissions", behavior.value)
    if node is None or (settings_file.is_broken and behavior is RuleBehavior.ALLOW):
        return ()
    if not isinstance(node.value, str):
        return node.items
    # A single text instead of a list: a restriction must not be lost because of brackets.
    return () if behavior is RuleBehavior.ALLOW else (node,)


def flag_rules(
    texts: Mapping[RuleBehavior, tuple[str, ...]], disallowed_tools: tuple[str, ...]
) -> tuple[RuleText, ...]:
    """Return the rules of `--allow`, `--ask` and `--deny`, and those of `--disallowedTools`.

    A name without a pattern in the latter removes the tool, but does not restrict other tools.
    """
    rules = [
        RuleText(text, behavior, RuleSource.CLI)
        for behavior, texts_of_one in texts.items()
        for text in texts_of_one
    ]
    for text in disallowed_tools:
        is_bare = "(" not in text
        rules.append(RuleText(text, RuleBehavior.DENY, RuleSource.CLI, is_for_tool_only=is_bare))
    return tuple(rules)
