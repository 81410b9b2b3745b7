"""Who decides about the hosts of a session: settings, permission rules, then the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from agent.sandbox.configuration.configured_hosts import configured_hosts
from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from agent.sandbox.network.host_gate import DecideHost, HostAnswer, HostGate, HostRequest
from agent.sandbox.network.host_name import InvalidHost
from agent.sandbox.network.host_rules import HostRules, parse_host_rule
from permissions.base.text.failure_text import error_reason
from permissions.context import PermissionContext
from permissions.decision import GrantChoice
from permissions.mode import Mode
from permissions.rule import RuleSet, RuleSource

StoreRules = Callable[[GrantChoice], object]
"""Stores rules and applies them. Raises OSError when a file cannot be changed."""


class SessionHosts:
    """Decides by the current settings and rules."""

    def __init__(
        self,
        sandbox: Callable[[], SandboxSettings],
        context: Callable[[], PermissionContext],
        ask: DecideHost | None,
        store: StoreRules,
        notify: Callable[[str], None],
        *,
        granted_hosts: Sequence[str] = (),
        on_grant: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`ask` is None where there is no user to ask; `notify` shows a line to the user.

        Args:
            granted_hosts: Hosts that the user allowed earlier in a resumed session.
            on_grant: Called with each host that the user allows for the session.
        """
        self._granted_hosts = granted_hosts
        self._on_grant = on_grant
        self._sandbox = sandbox
        self._context = context
        self._ask = ask
        self._store = store
        self._notify = notify
        self._current: tuple[SandboxSettings, RuleSet, HostRules] | None = None

    def gate(self) -> HostGate:
        """Return the gate of the session."""
        gate = HostGate(self.rules, self.asker, on_grant=self._on_grant)
        for text in self._granted_hosts:
            with suppress(InvalidHost):
                gate.grant(parse_host_rule(text))
        return gate

    def rules(self) -> HostRules:
        """Return the hosts that are allowed and denied now."""
        sandbox, rules = self._sandbox(), self._context().rules
        current = self._current
        if current is None or current[0] is not sandbox or current[1] is not rules:
            current = self._current = sandbox, rules, configured_hosts(sandbox, rules)
        return current[2]

    def asker(self) -> DecideHost | None:
        """Return the function that asks about a host without a rule; None refuses it at once."""
        if self._ask is None or self._sandbox().strict_allowlist:
            return None
        return None if self._context().mode is Mode.DONT_ASK else self._decide

    async def _decide(self, request: HostRequest) -> HostAnswer:
        """Ask the user; store a rule if the answer is to allow always."""
        assert self._ask is not None
        answer = await self._ask(request)
        if answer.is_allowed and answer.always:
            rule = f"WebFetch(domain:{request.host})"
            choice = GrantChoice((rule,), str(RuleSource.LOCAL))
            try:
                self._store(choice)
            except OSError as error:
                self._notify(
                    f"{rule} could not be stored: {error_reason(error)}. "
                    "The host is allowed for this session."
                )
        return answer
