"""Limits rules stored from a question to the server definition that was asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.mcp.configuration.rule_digests import RuleDigests
from agent.mcp.server_state import ServerView
from permissions.gate import PermissionGate
from permissions.rule import RuleBehavior, RuleSet


class RuleBinding:
    """Binds stored rules to definitions, and disables those of other definitions."""

    def __init__(
        self,
        digests: RuleDigests,
        views: Callable[[], Sequence[ServerView]],
        gate: Callable[[], PermissionGate],
        notify: Callable[[str, str], None],
    ) -> None:
        """`notify` shows a line to the user, with a level."""
        self._digests = digests
        self._views = views
        self._gate = gate
        self._notify = notify

    def bind_stored(self, rules: Sequence[str]) -> None:
        """Bind rules that an answer just stored. Raises OSError."""
        for view in self._views():
            for tool in view.tools:
                if tool.full_name in rules:
                    self._digests.bind(tool.full_name, view.definition.digest)

    def check(self, view: ServerView) -> None:
        """Disable allow rules that were stored for another server of this name."""
        names = [tool.full_name for tool in view.tools]
        foreign = set(self._digests.foreign(view.definition.digest, names)) if names else set()
        gate = self._gate()
        texts = gate.context.rules.texts
        remaining = [
            one
            for one in texts
            if one.behavior is not RuleBehavior.ALLOW or one.text not in foreign
        ]
        if len(remaining) < len(texts):
            gate.replace_context(gate.context.with_rules(RuleSet.build(remaining)[0]))
            self._notify(
                f"MCP server {view.name} is not the one your rules were stored for: its tools "
                "are asked about again",
                "warning",
            )
