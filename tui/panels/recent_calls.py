"""Recent decisions: denied calls, which users can allow once, and explanations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from permissions.decision import (
    Behavior,
    Decision,
    source_name,
)
from permissions.explain.decision_history import RecentCall
from permissions.explain.explain_decision import (
    Shorten,
    decider_name,
    reason_text,
    with_rules,
)
from permissions.gate import PermissionGate
from tui.dialogs.permission_rows import trace_rows
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.panels.text_panel import TextPanel
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line
from tui.text.styled_rows import BLANK, TEXT, Row
from tui.text.time_ago import time_ago

_DENIED_HINT: Final = "enter or r allow once · tab all decisions · esc close"
_DECIDED_HINT: Final = "enter why · tab rules · / search · esc close"


async def show_recent(screen: CommandScreen, gate: PermissionGate, short: Shorten) -> bool:
    """Show denied calls, then all decisions; False if the user closed the panel."""
    return await _retry_denied(screen, gate, short) and await _explain_any(screen, gate, short)


async def _retry_denied(screen: CommandScreen, gate: PermissionGate, short: Shorten) -> bool:
    """Let the user allow a denied call once, if that is permitted; False if they closed it."""
    selected_index = 0
    while True:
        denials = gate.recent_denials
        panel = ListPanel(
            "Permissions · recently denied",
            [
                Item(denial.call, f"{time_ago(denial.time)} · {_decider(denial.decision, short)}")
                for denial in denials
            ],
            selected_index=selected_index,
            keys=("r",),
            list_keys={"tab": "all decisions"},
            letters="keys",
            preview=_reasons(denials, short),
            hint=_DENIED_HINT,
            empty="nothing denied in this conversation",
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return False
        if pick.key == "tab":
            return True
        selected_index = pick.index
        denial = denials[selected_index]
        now = gate.evaluate(denial.request)
        if now.behavior is Behavior.DENY:
            reason = shown_line(reason_text(with_rules(now, gate.context.rules), short))
            screen.notice(f"This cannot be allowed: {reason}", "warning")
            continue
        screen.session.send(gate.retry(denial))
        return False


async def _explain_any(screen: CommandScreen, gate: PermissionGate, short: Shorten) -> bool:
    """Explain recent decisions that the user selects; False if they closed the panel."""
    selected_index = 0
    while True:
        calls = gate.recent_decisions
        panel = ListPanel(
            "Permissions · recent decisions",
            [_decided_item(call, short) for call in calls],
            selected_index=selected_index,
            list_keys={"tab": "rules"},
            letters="keys",
            preview=_reasons(calls, short),
            hint=_DECIDED_HINT,
            empty="no decisions in this conversation yet",
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return False
        if pick.key == "tab":
            return True
        selected_index = pick.index
        await screen.show_dialog(
            TextPanel("Why", _explain_call(calls[selected_index], gate, short))
        )


def _explain_call(
    call: RecentCall, gate: PermissionGate, short: Shorten
) -> Callable[[int], list[Row]]:
    decision = with_rules(call.decision, gate.context.rules)

    def rows(width: int) -> list[Row]:
        reason = f"{_DONE[decision.behavior]}: {reason_text(decision, short)}"
        return [
            *paragraph_rows(call.call, width, TEXT),
            *paragraph_rows(reason, width),
            BLANK,
            *trace_rows(decision, max(1, width - 4), short),
        ]

    return rows


def _decided_item(call: RecentCall, short: Shorten) -> Item:
    decision = call.decision
    detail = f"{time_ago(call.time)} · {_decider(decision, short)}"
    return Item(f"{decision.behavior:<5} {call.call}", detail)


def _decider(decision: Decision, short: Shorten) -> str:
    """Return what decided: a rule with its file and line, or a step."""
    if decision.rule is not None and str(decision.source) == decision.rule.source:
        rule = decision.rule
        line = f":{rule.line}" if rule.line else ""
        place = f"{short(rule.file)}{line}" if rule.file else source_name(rule.source)
        return f"{rule.text}, {place}"
    return decider_name(str(decision.source))


def _reasons(calls: Sequence[RecentCall], short: Shorten) -> Callable[[int, int], list[Row]]:
    def rows(index: int, width: int) -> list[Row]:
        return paragraph_rows(reason_text(calls[index].decision, short), width)

    return rows


_DONE: Final = {Behavior.ALLOW: "allowed", Behavior.DENY: "denied", Behavior.ASK: "asked about"}
