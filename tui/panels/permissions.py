"""`/permissions`: every rule in force with where it comes from; rules can be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from permissions.lint import lint
from permissions.rule import Rule, RuleSource
from permissions.rule_set import RuleSet
from permissions.store import StoreError, remove_rules
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel
from tui.shown import shown_line
from tui.text.ink import MUTED, Row, row
from tui.text.wrap import wrap


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the rules; Delete takes the selected one out of its file, for good."""
    conversation = screen.conversation
    if conversation is None:
        return
    selected = 0
    while True:
        rules = list(conversation.rules)
        panel = ListPanel(
            f"Permissions · mode {conversation.mode}",
            [_item(rule) for rule in rules],
            selected=selected,
            keys=("delete", "ctrl+d"),
            preview=_preview(rules),
            hint="type to search · del take back · esc close",
            empty="no rules: everything that writes or runs asks",
        )
        picked = await screen.show_dialog(panel)
        if picked is None:
            return
        selected = picked.index
        if picked.key != "enter":
            screen.notice(*await _take_back(screen, rules[picked.index]))


def _item(rule: Rule) -> Item:
    place = f"{rule.file}:{rule.line}" if rule.file and rule.line else rule.file or ""
    return Item(f"{rule.behavior:<5} {rule.text}", f"{rule.source} {place}".rstrip())


def _preview(rules: Sequence[Rule]) -> Callable[[int, int], list[Row]]:
    found: dict[int, list[str]] = {}
    warnings = lint(RuleSet(tuple(rules)))
    for index, rule in enumerate(rules):
        found[index] = [
            f"{warning.message} {warning.fix}"
            for warning in warnings
            if warning.shadowed == rule.text and warning.source == str(rule.source)
        ]

    def rows(index: int, width: int) -> list[Row]:
        return [
            row("   ", *line.runs)
            for text in found[index]
            for line in wrap([(shown_line(text), MUTED)], max(1, width - 4))
        ]

    return rows


async def _take_back(screen: CommandScreen, rule: Rule) -> tuple[str, str]:
    center = screen.commands
    if center is None:
        return "Not now.", "warning"
    if rule.source in {RuleSource.POLICY, RuleSource.CLI}:
        return f"{rule.text} comes from {rule.source}: it can only be changed there.", "warning"
    if rule.file is not None:
        try:
            receipt = await asyncio.to_thread(
                remove_rules, Path(rule.file), rule.behavior, [rule.text]
            )
        except StoreError as error:
            return str(error), "warning"
        if not receipt.changed:
            return f"{rule.text} is no longer in {rule.file}.", "warning"
    gate = center.context.gate
    kept = [
        text
        for text in gate.context.rules.texts
        if (text.text, text.behavior, text.source, text.file)
        != (rule.text, rule.behavior, rule.source, rule.file)
    ]
    gate.replace_context(gate.context.with_rules(RuleSet.build(kept)[0]))
    return f"{rule.behavior} {rule.text} is taken back ({rule.file or rule.source}).", "info"
