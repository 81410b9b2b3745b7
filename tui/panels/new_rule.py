"""Asks the user for a new rule: its text, its behavior and where to store it. The rule is linted
before it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from permissions.lint.lint import LintWarning
from permissions.rule import RuleBehavior, RuleSource
from permissions.rule_editor import MOVABLE, RuleChangeError, RuleEditor, check_rule
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line

PLACES: Final[Mapping[RuleSource, str]] = {
    RuleSource.SESSION: "for this session",
    RuleSource.LOCAL: ".agent/settings.local.json: you, in this project",
    RuleSource.PROJECT: ".agent/settings.json: everyone in this project",
    RuleSource.USER: "~/.agent/settings.json: you, everywhere",
}
_BEHAVIORS: Final[Mapping[RuleBehavior, str]] = {
    RuleBehavior.ALLOW: "runs without asking",
    RuleBehavior.ASK: "asks each time",
    RuleBehavior.DENY: "never runs, even if another rule allows it",
}
_EXAMPLES: Final = "For example Bash(npm run *), Edit(src/**) or WebFetch(domain:example.com)."
_HINT: Final = "↑↓ select · enter confirm · esc back"


async def add_rule(screen: CommandScreen, editor: RuleEditor) -> str | None:
    """Ask for a rule and store it; return a message, or None if the user cancelled.

    Raises:
        RuleChangeError: the rule exists already; nothing is stored.
        OSError: the settings file cannot be changed.
    """
    answer = await _rule(screen)
    if answer is None:
        return None
    text, behavior = answer
    source = await place_of(screen, text, MOVABLE)
    if source is None:
        return None
    findings = editor.findings(text, behavior, source)
    if findings and not await _confirm(screen, text, findings):
        return None
    return await editor.add(text, behavior, source)


async def place_of(
    screen: CommandScreen, text: str, places: Sequence[RuleSource]
) -> RuleSource | None:
    """Ask where to store a rule; None if the user cancelled."""
    items = [Item(str(source), PLACES[source]) for source in places]
    pick = await screen.show_dialog(ListPanel(f"Store {text} in", items, hint=_HINT))
    return places[pick.index] if pick is not None else None


async def _rule(screen: CommandScreen) -> tuple[str, RuleBehavior] | None:
    """Ask for a rule and its behavior until the rule is valid; typed text stays in the field.

    None if the user cancelled."""
    question, last_text = _EXAMPLES, ""
    while True:
        entry = LineEntry("Add a rule", question, "enter continue · esc back")
        entry.paste(last_text)
        text = await screen.show_dialog(entry)
        if text is None:
            return None
        question, last_text = _EXAMPLES, text
        problems = {each: _problem(text, each) for each in _BEHAVIORS}
        if all(problems.values()):
            question = problems[RuleBehavior.ALLOW]
            continue
        behavior = await _behavior(screen, text)
        if behavior is not None and not problems[behavior]:
            return text, behavior
        if behavior is not None:
            question = problems[behavior]


async def _behavior(screen: CommandScreen, text: str) -> RuleBehavior | None:
    choices = list(_BEHAVIORS)
    items = [Item(str(choice), _BEHAVIORS[choice]) for choice in choices]
    pick = await screen.show_dialog(ListPanel(f"What {text} does", items, hint=_HINT))
    return choices[pick.index] if pick is not None else None


def _problem(text: str, behavior: RuleBehavior) -> str:
    """Return why a text is not a valid rule with this behavior; "" if it is."""
    try:
        check_rule(text, behavior)
    except RuleChangeError as error:
        return shown_line(str(error))
    return ""


async def _confirm(screen: CommandScreen, text: str, findings: Sequence[LintWarning]) -> bool:
    warnings_text = " ".join(finding.notice_text for finding in findings)
    panel = ListPanel(
        f"Add {text}?",
        [Item("Cancel", "nothing is stored"), Item("Add it anyway")],
        question=shown_line(warnings_text),
        hint=_HINT,
    )
    pick = await screen.show_dialog(panel)
    return pick is not None and pick.index == 1
