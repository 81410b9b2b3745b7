"""Permission rules of a settings file, each with the file and line it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent.settings.file import LoadedFile, SettingsWarning
from agent.settings.positions import Node
from permissions.rule import RuleBehavior, RuleExamples, RuleSource, RuleText


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
        for index, entry in enumerate(entries):
            rule = _rule(entry, behavior, loaded.source, loaded.path)
            if rule is not None:
                found.append(rule)
                continue
            key = f"permissions.{behavior.value}.{index}"
            message = 'expected a rule such as "Bash(git status)"'
            warnings.append(SettingsWarning(message, loaded.path, entry.line, key))
    return tuple(found), tuple(warnings)


def flag_rules(texts: Mapping[RuleBehavior, tuple[str, ...]]) -> tuple[RuleText, ...]:
    """Return the rules of `--allow`, `--ask` and `--deny`."""
    return tuple(
        RuleText(text=text, behavior=behavior, source=RuleSource.CLI)
        for behavior, rules in texts.items()
        for text in rules
    )


def _rule(
    entry: Node, behavior: RuleBehavior, source: RuleSource, path: Path | None
) -> RuleText | None:
    file = str(path) if path else None
    if isinstance(entry.value, str):
        return RuleText(
            text=entry.value, behavior=behavior, source=source, file=file, line=entry.line
        )
    # {"rule": …, "match": […], "notMatch": […]}: a rule with examples that are checked on loading.
    if isinstance(entry.value, dict) and isinstance(text := entry.value.get("rule"), str):
        return RuleText(
            text=text,
            behavior=behavior,
            source=source,
            file=file,
            line=entry.line,
            examples=RuleExamples(
                match=_texts(entry.value.get("match")),
                not_match=_texts(entry.value.get("notMatch")),
            ),
        )
    return None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(t for t in value if isinstance(t, str)) if isinstance(value, list) else ()
