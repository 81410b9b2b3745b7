"""Wires the permission gate: who contends for an ask, the audit log, and rules that come later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agent.assembly.start_context import StartContext
from agent.hook_events.dispatch import HookDispatch
from agent.permission_config.contenders import is_auto_available
from agent.permission_config.context import Grants, PermissionSetup, stripped_note
from agent.permission_config.hook_head_start import HeadStart
from hooks.contender import HookContender
from hooks.runner import HookRunner
from permissions.base.text.redactor import Redactor
from permissions.decision import Decision
from permissions.evaluate.read_only_classifier import LocalClassifier
from permissions.explain.audit_log import AuditLog
from permissions.gate import PermissionGate
from permissions.grants.suggest import Grant, suggest
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.handlers import HeadlessHandler, InteractiveHandler
from permissions.rule import RuleText


class GatePorts(Struct, frozen=True, kw_only=True):
    """What the gate needs of the conversation that is being put together."""

    permissions: PermissionSetup
    runner: HookRunner
    dispatch: HookDispatch
    grants: Grants
    classifiers: Sequence[Contender]
    remote: Sequence[Contender]
    redactor: Redactor
    cwd: Callable[[], Path]


class GateParts:
    """The gate, and what changes its rules while the conversation goes on."""

    def __init__(self, start: StartContext, ports: GatePorts) -> None:
        """Build the gate; `cwd` of the ports is asked from the first call on."""
        self._tell = start.user.tell
        self._ports = ports
        dialog = start.user.dialog
        hooks: Contender = HookContender(
            ports.runner,
            on_outcome=ports.dispatch.show_outcome,
            suggest=self._suggest,
            cwd=ports.cwd,
        )
        if dialog is not None:
            head_start = HeadStart(hooks, dialog)
            hooks, dialog = head_start.first, head_start.second
        contenders: list[Contender] = [
            hooks,
            LocalClassifier(lambda: (self.gate.context, ports.cwd())),
            *ports.classifiers,
        ]
        if dialog is not None:
            handler: Any = InteractiveHandler([*contenders, *ports.remote, dialog])
        else:
            handler = HeadlessHandler(contenders)
        self.gate = PermissionGate(
            ports.permissions.context,
            handler,
            audit=AuditLog(
                start.environment.agent_home / "audit" / f"{date.today():%Y-%m}.jsonl",
                session_id=start.session.id,
                redact=ports.redactor.text,
                mode=lambda: str(self.gate.mode),
                cwd=ports.cwd,
                folder=start.environment.launch_dir,
                tell=lambda text: self._tell(text, "warning"),
            ),
            grants=ports.grants,
            auto_available=is_auto_available(start.settings),
            tell=lambda text: self._tell(text, "warning"),
        )

    def add_rules(self, rules: Sequence[RuleText]) -> None:
        """Put rules in force beside those that are."""
        context = self.gate.context
        self.gate.replace_context(context.with_rules(context.rules.with_rules(rules)))

    def budget_exceeded(self, reason: str) -> None:
        """Deny every call from now on."""
        self.gate.replace_context(replace(self.gate.context, budget_exceeded=reason))

    def tell_stripped(self, _mode: Mode) -> None:
        """Say which allow rules the mode just entered takes out of force."""
        if self.gate.stripped_rules:
            self._tell(stripped_note(self.gate.stripped_rules), "warning")

    def _suggest(self, request: PermissionRequest, pending: Decision) -> Sequence[Grant]:
        return suggest(request, pending, self.gate.context, cwd=self._ports.cwd())
