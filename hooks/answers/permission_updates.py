"""Permission rules in the format of hooks: updates they request, suggestions they receive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from permissions.decision import Behavior, GrantChoice

if TYPE_CHECKING:
    from permissions.grants.suggest import Grant


DESTINATIONS: Final = frozenset({"session", "localSettings", "projectSettings", "userSettings"})


def suggestions_json(grants: Sequence[Grant]) -> list[dict[str, object]]:
    """Return the grants that the dialog would offer, in the format of hooks."""
    return [
        {
            "type": "addRules",
            "rules": [_rule_json(text) for text in grant.rules],
            "behavior": grant.behavior.value,
            "destination": grant.destination.value,
        }
        for grant in grants
        if grant.destination is not None and grant.rules
    ]


def grant_of(updates: Sequence[Mapping[str, object]]) -> tuple[GrantChoice | None, tuple[str, ...]]:
    """Return the rules that updates ask to store, and a line for each update that is not applied.

    A decision stores rules of one behavior in one place: those of the first such update and of
    others that agree with it. Hooks cannot change modes or directories.
    """
    chosen: GrantChoice | None = None
    problems: list[str] = []
    for update in updates:
        choice = _add_rules(update)
        if choice is None:
            problems.append(
                f"updatedPermissions: {update.get('type')!r} is not supported for hooks"
            )
        elif chosen is None:
            chosen = choice
        elif (choice.destination, choice.behavior) == (chosen.destination, chosen.behavior):
            chosen = GrantChoice(
                (*chosen.rules, *choice.rules), chosen.destination, chosen.behavior
            )
        else:
            problems.append("updatedPermissions: rules for one place only; the others are left out")
    return chosen, tuple(problems)


def _add_rules(update: Mapping[str, object]) -> GrantChoice | None:
    rules = update.get("rules")
    destination = update.get("destination", "session")
    behavior = update.get("behavior", "allow")
    if update.get("type") != "addRules" or not isinstance(rules, list):
        return None
    if destination not in DESTINATIONS or behavior not in ("allow", "deny", "ask"):
        return None
    texts = [_rule_text(rule) for rule in rules]
    if not texts or None in texts:
        return None
    return GrantChoice(
        tuple(text for text in texts if text is not None), str(destination), Behavior(behavior)
    )


def _rule_text(rule: object) -> str | None:
    if not isinstance(rule, Mapping):
        return None
    tool, content = rule.get("toolName"), rule.get("ruleContent")
    if not isinstance(tool, str) or not tool:
        return None
    return f"{tool}({content})" if isinstance(content, str) and content else tool


def _rule_json(text: str) -> dict[str, object]:
    tool, parenthesis, rest = text.partition("(")
    if not parenthesis:
        return {"toolName": tool}
    return {"toolName": tool, "ruleContent": rest.removesuffix(")")}
