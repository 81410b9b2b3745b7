"""`/permissions`: every rule in force with its source and use; then recent decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from permissions.base.text.failure_text import error_reason
from permissions.decision import source_name
from permissions.explain.decision_history import RuleKey, RuleRow, RuleUse, read_usage
from permissions.explain.explain_decision import (
    Shorten,
    home_relative,
)
from permissions.lint.lint import lint
from permissions.mode import mode_name
from permissions.rule import Rule, RuleSource, RuleText
from permissions.rule_editor import MOVABLE, NoRuleStore, RuleChangeError, RuleEditor, RuleStore
from permissions.rules.rule_set import RuleSet
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.panels.new_rule import add_rule, place_of
from tui.panels.recent_calls import show_recent
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line
from tui.text.styled_rows import Row
from tui.text.time_ago import time_ago

_NAMED: Final = 3
_HINT: Final = "a add · e edit · m move · del · u undo · tab history · / search · esc"


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the rules; keys change the selected rule in its file."""
    command_service = screen.session.commands
    conversation = screen.session.conversation
    if command_service is None or conversation is None:
        return
    gate = command_service.context.gate
    rule_store = gate.grants
    editor = RuleEditor(gate, rule_store if isinstance(rule_store, RuleStore) else NoRuleStore())
    usage = await asyncio.to_thread(_logged_use, command_service.context.agent_home)
    short = _shorten(gate.context.home, gate.context.launch_dir)
    selected_index = 0
    while True:
        rules = list(gate.context.rules.rules)
        idle = {(str(rule.source), rule.text) for rule in gate.stripped_rules}
        panel = ListPanel(
            f"Permissions · {mode_name(conversation.status.mode)}",
            [
                _item(line, short, is_idle=(line.source, line.rule) in idle)
                for line in gate.rule_table(usage)
            ],
            question=" ".join(
                note
                for note in (
                    _waiting(command_service.context.settings().waiting_rules),
                    _unread(gate.context.rules),
                )
                if note
            ),
            selected_index=selected_index,
            keys=("delete", "ctrl+d", "e", "m"),
            list_keys={"a": "add", "u": "undo", "tab": "history"},
            letters="keys",
            preview=_preview(rules, gate.context.rules),
            hint=_HINT,
            empty="no rules: writing files and running commands needs your approval",
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return
        selected_index = pick.index
        if pick.key == "tab":
            if not await show_recent(screen, gate, short):
                return
        elif pick.key != "enter":
            rule = rules[pick.index] if rules else None
            message = await _change(screen, editor, pick.key, rule)
            if message is not None:
                screen.notice(*message)


def _logged_use(agent_home: Path) -> Mapping[RuleKey, RuleUse] | None:
    """Return the use of rules in all sessions; None if only that of this session is known."""
    try:
        return read_usage(agent_home / "audit") or None
    except OSError:
        return None


def _shorten(home: Path, directory: Path) -> Shorten:
    """Return a function that shortens paths, relative to the launch directory or to home."""
    from_home = home_relative(str(home))

    def short(file: str) -> str:
        inside = f"{directory}/"
        return file.removeprefix(inside) if file.startswith(inside) else from_home(file)

    return short


def _waiting(rules: Sequence[RuleText]) -> str:
    """Return a note about allow rules that wait for trust; "" if there are none."""
    names = ", ".join(rule.text for rule in rules[:_NAMED])
    more = f" and {len(rules) - _NAMED} more" if len(rules) > _NAMED else ""
    waits = "waits" if len(rules) == 1 else "wait"
    return shown_line(f"For trust {waits}: {names}{more} (/trust)") if rules else ""


def _unread(rules: RuleSet) -> str:
    """Return a note about rules that are ignored because they are invalid; "" if there are none."""
    rule_texts = {rule.text for rule in rules.rules}
    broken = [w.rule for w in rules.warnings if w.rule is not None and w.rule not in rule_texts]
    names = ", ".join(dict.fromkeys(broken[:_NAMED]))
    more = f" and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
    return shown_line(f"Ignored (cannot be read): {names}{more} (/doctor)") if names else ""


def _item(line: RuleRow, short: Shorten, *, is_idle: bool = False) -> Item:
    number = f":{line.line}" if line.line else ""
    place = f"{short(line.file)}{number}" if line.file else source_name(line.source)
    keywords = f"{line.source} {source_name(line.source)}"
    use = "not used in auto mode" if is_idle else _usage_text(line)
    return Item(f"{line.behavior:<5} {line.rule}", f"{place} · {use}", keywords=keywords)


def _usage_text(line: RuleRow) -> str:
    if not line.hits or line.last_used is None:
        return "never used"
    return f"used {line.hits}×, {time_ago(line.last_used)}"


def _preview(rules: Sequence[Rule], rule_set: RuleSet) -> Callable[[int, int], list[Row]]:
    messages: dict[int, list[str]] = {}
    warnings = lint(RuleSet(tuple(rules), rule_set.warnings, rule_set.texts))
    for index, rule in enumerate(rules):
        messages[index] = [
            warning.notice_text
            for warning in warnings
            if warning.rule == rule.text and warning.source == str(rule.source)
        ]

    def rows(index: int, width: int) -> list[Row]:
        return [line for text in messages[index] for line in paragraph_rows(text, width)]

    return rows


async def _edited_text(screen: CommandScreen, rule: Rule) -> str | None:
    """Return the edited text of a rule; None if it is unchanged or the user cancelled."""
    entry = LineEntry(
        f"Edit {rule.behavior} rule",
        f"Stored in {rule.file or rule.source}. Examples of the old rule are removed with it.",
        "enter write · esc back",
    )
    entry.paste(rule.text)
    text = await screen.show_dialog(entry)
    return None if text == rule.text else text


async def _change(
    screen: CommandScreen, editor: RuleEditor, key: str, rule: Rule | None
) -> tuple[str, str] | None:
    """Apply a key to a rule; return a notice with its level, or None if the user cancelled."""
    try:
        if key == "u":
            return await editor.undo(), "info"
        if key == "a":
            message = await add_rule(screen, editor)
            return (message, "info") if message is not None else None
        if rule is None:
            return None
        match key:
            case "e":
                new = await _edited_text(screen, rule)
                return (await editor.edit(rule, new), "info") if new is not None else None
            case "m":
                destination = await _destination(screen, rule)
                if destination is None:
                    return None
                return await editor.move(rule, destination), "info"
            case _:
                return await editor.remove(rule), "info"
    except (RuleChangeError, OSError) as error:
        return error_reason(error), "warning"


async def _destination(screen: CommandScreen, rule: Rule) -> RuleSource | None:
    places = [source for source in MOVABLE if source is not rule.source]
    return await place_of(screen, rule.text, places)
