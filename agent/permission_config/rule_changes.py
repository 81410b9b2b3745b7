"""Changes to the rules during a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent.permission_config.permission_context import stripped_note
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.rule import RuleText


class RuleChanges(Struct, frozen=True):
    """Changes the permission context of one conversation's gate."""

    gate: Callable[[], PermissionGate]
    notify: Callable[[str, str], None]
    """Shows the user a line; the second argument is its level."""

    def add(self, rules: Sequence[RuleText]) -> None:
        """Add rules to the current ones."""
        gate = self.gate()
        gate.replace_context(gate.context.with_rules(gate.context.rules.with_rules(rules)))

    def exceed_budget(self, reason: str) -> None:
        """Deny every call from now on."""
        gate = self.gate()
        gate.replace_context(replace(gate.context, budget_exceeded=reason))

    def report_stripped(self, _mode: Mode) -> None:
        """Report the allow rules that the mode just entered disables."""
        if rules := self.gate().stripped_rules:
            self.notify(stripped_note(rules), "warning")
