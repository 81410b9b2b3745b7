"""Permission rules of a settings file, each with the file and line it stands on."""

from __future__ import annotations

from collections.abc import Mapping

from agent.settings.file import LoadedFile, SettingsWarning
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_entry import rule_texts


def rules_of(loaded: LoadedFile) -> tuple[tuple[RuleText, ...], tuple[SettingsWarning, ...]]:
    """Return a file's rules in order; allow rules of a broken file are left out."""
    found: list[RuleText] = []
    warnings: list[SettingsWarning] = []
    for behavior in (RuleBehavior.DENY, RuleBehavior.ASK, RuleBehavior.ALLOW):
        node = loaded.root.get("permissions", behavior.value)
        if node is None or (loaded.broken and behavior is RuleBehavior.ALLOW):
            continue
        # A lone text in place of a list: a restriction must not get lost over its brackets.
        entries = (node,) if isinstance(node.value, str) else node.items
        if isinstance(node.value, str) and behavior is RuleBehavior.ALLOW:
            continue
        file = str(loaded.path) if loaded.path else None
        for index, entry in enumerate(entries):
            key = f"permissions.{behavior.value}.{index}"
            for rule in rule_texts(entry.value, behavior, loaded.source, file, entry.line):
                if rule.invalid is None:
                    found.append(rule)
                else:
                    warnings.append(SettingsWarning(rule.invalid, loaded.path, entry.line, key))
    return tuple(found), tuple(warnings)


def flag_rules(texts: Mapping[RuleBehavior, tuple[str, ...]]) -> tuple[RuleText, ...]:
    """Return the rules of `--allow`, `--ask` and `--deny`."""
    return tuple(
        RuleText(text=text, behavior=behavior, source=RuleSource.CLI)
        for behavior, rules in texts.items()
        for text in rules
    )
