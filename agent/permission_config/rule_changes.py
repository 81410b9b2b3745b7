"""Changes to the rules in force while a conversation continues."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent.permission_config.permission_context import stripped_note
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.rule import RuleText


class RuleChanges(Struct, frozen=True):
    """Changes what the gate of one conversation decides from."""

    gate: Callable[[], PermissionGate]
    notify: Callable[[str, str], None]
    """Shows the user a line; takes its level as well."""

    def add(self, rules: Sequence[RuleText]) -> None:
        """Put rules in force beside those that are."""
        gate = self.gate()
        gate.replace_context(gate.context.with_rules(gate.context.rules.with_rules(rules)))

    def exceed_budget(self, reason: str) -> None:
        """Deny every call from now on."""
        gate = self.gate()
        gate.replace_context(replace(gate.context, budget_exceeded=reason))

    def report_stripped(self, _mode: Mode) -> None:
        """Report the allow rules that the mode just entered takes out of force."""
        if rules := self.gate().stripped_rules:
            self.notify(stripped_note(rules), "warning")
