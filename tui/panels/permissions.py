"""`/permissions`: every rule in force with its origin and use; and what was denied of late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from permissions.gate import PermissionGate
from permissions.history import RecentDenial, RuleKey, RuleRow, RuleUse, read_usage
from permissions.lint import lint
from permissions.mode import named
from permissions.rule import Rule, RuleSource
from permissions.rule_editor import MOVABLE, NothingKept, RuleChangeError, RuleEditor, RuleKeeper
from permissions.rule_set import RuleSet
from tui.command_screen import CommandScreen
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel
from tui.panels.new_rule import add_rule, place_of
from tui.shown import shown_line
from tui.text.ink import MUTED, Row, row
from tui.text.wrap import wrap

_HINT: Final = "a add · e edit · m move · del · u undo · tab denied · / find · esc"
_DENIED_HINT: Final = "enter or r lets it through once · tab rules · esc close"


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the rules; keys change the selected one where it is kept."""
    center = screen.commands
    conversation = screen.conversation
    if center is None or conversation is None:
        return
    gate = center.context.gate
    keeper = gate.grants
    editor = RuleEditor(gate, keeper if isinstance(keeper, RuleKeeper) else NothingKept())
    usage = await asyncio.to_thread(_logged_use, center.context.agent_home)
    selected = 0
    is_first = True
    while True:
        rules = list(gate.context.rules.rules)
        if is_first and not rules and gate.recent_denials:
            # There is nothing else to see.
            is_first = False
            if not await _denied(screen, gate):
                return
            continue
        panel = ListPanel(
            f"Permissions · {named(conversation.mode)}",
            [_item(line) for line in gate.rule_table(usage)],
            selected=selected,
            keys=("delete", "ctrl+d", "e", "m"),
            list_keys={"a": "add", "u": "undo", "tab": "denied"},
            letters="keys",
            preview=_preview(rules),
            hint=_HINT,
            empty="no rules: everything that writes or runs asks",
        )
        picked = await screen.show_dialog(panel)
        if picked is None:
            return
        selected = picked.index
        if picked.key == "tab":
            if not await _denied(screen, gate):
                return
        elif picked.key != "enter":
            rule = rules[picked.index] if rules else None
            said = await _change(screen, editor, picked.key, rule)
            if said is not None:
                screen.notice(*said)


def _logged_use(agent_home: Path) -> Mapping[RuleKey, RuleUse] | None:
    """Return the use of rules over all sessions; None counts this one alone."""
    try:
        return read_usage(agent_home / "audit") or None
    except OSError:
        return None


def _item(line: RuleRow) -> Item:
    place = f"{line.file}:{line.line}" if line.file and line.line else line.file or ""
    detail = f"{line.source} {place}".rstrip()
    return Item(f"{line.behavior:<5} {line.rule}", f"{_used(line)} · {detail}")


def _used(line: RuleRow) -> str:
    if not line.hits or line.last_used is None:
        return "never used"
    return f"used {line.hits}×, {_ago(line.last_used)}"


def _ago(moment: datetime) -> str:
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


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


async def _change(
    screen: CommandScreen, editor: RuleEditor, key: str, rule: Rule | None
) -> tuple[str, str] | None:
    """Do what a key asks for; return what to tell, None when the person left it."""
    try:
        if key == "u":
            return await editor.undo(), "info"
        if key == "a":
            said = await add_rule(screen, editor)
            return (said, "info") if said is not None else None
        if rule is None:
            return None
        match key:
            case "e":
                entry = LineEntry(
                    f"Edit {rule.behavior} rule",
                    f"Kept in {rule.file or rule.source}. Examples of the old rule go with it.",
                    "enter writes it · esc goes back",
                )
                entry.paste(rule.text)
                new = await screen.show_dialog(entry)
                if new is None or new == rule.text:
                    return None
                return await editor.edit(rule, new), "info"
            case "m":
                destination = await _destination(screen, rule)
                if destination is None:
                    return None
                return await editor.move(rule, destination), "info"
            case _:
                return await editor.take_back(rule), "info"
    except (RuleChangeError, OSError) as error:
        return str(error), "warning"


async def _destination(screen: CommandScreen, rule: Rule) -> RuleSource | None:
    places = [source for source in MOVABLE if source is not rule.source]
    return await place_of(screen, rule.text, places)


async def _denied(screen: CommandScreen, gate: PermissionGate) -> bool:
    """Show what was denied; Enter lets a call through once. False when the panel was left."""
    denials = gate.recent_denials
    panel = ListPanel(
        "Permissions · recently denied",
        [_denial_item(denial) for denial in denials],
        keys=("r",),
        list_keys={"tab": "rules"},
        letters="keys",
        preview=_reasons(denials),
        hint=_DENIED_HINT,
        empty="nothing was denied in this conversation",
    )
    picked = await screen.show_dialog(panel)
    if picked is None:
        return False
    if picked.key == "tab":
        return True
    screen.send(gate.retry(denials[picked.index]))
    return False


def _denial_item(denial: RecentDenial) -> Item:
    who = denial.decision.rule.text if denial.decision.rule else str(denial.decision.source)
    return Item(denial.call, f"{_ago(denial.at)} · {who}")


def _reasons(denials: Sequence[RecentDenial]) -> Callable[[int, int], list[Row]]:
    def rows(index: int, width: int) -> list[Row]:
        message = shown_line(denials[index].decision.message)
        return [row("   ", *line.runs) for line in wrap([(message, MUTED)], max(1, width - 4))]

    return rows
