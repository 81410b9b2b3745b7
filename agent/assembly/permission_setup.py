"""Build the permission gate, its contenders and audit log, and updates from settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.assembly.environment import settings_for
from agent.assembly.hook_setup import HookParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.recording import Recording
from agent.assembly.sandbox_setup import connect_sandbox, sandbox_state
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts, SharedState
from agent.conversation.settings_reload import LiveSettings
from agent.permission_config.contenders import PermissionContenders, is_auto_available
from agent.permission_config.hook_head_start import HookHeadStart
from agent.permission_config.permission_context import Grants, PermissionSetup
from agent.permission_config.rule_changes import RuleChanges
from agent.permission_config.session_grants import SessionGrants
from agent.sandbox.configuration.session_hosts import SessionHosts
from agent.teams.seat import LeaderSeat, WorkerSeat
from hooks.contender import HookContender
from permissions.decision import Decision
from permissions.evaluate.cascade import Evaluation
from permissions.evaluate.read_only_classifier import LocalClassifier
from permissions.explain.audit_log import AuditLog
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.handlers import (
    CoordinatorHandler,
    Handler,
    HeadlessHandler,
    InteractiveHandler,
)
from permissions.resolve.local_first import LocalFirst
from permissions.resolve.mailbox import WorkerHandler

if TYPE_CHECKING:
    from permissions.grants.suggest import Grant


class PermissionParts(Struct, frozen=True, kw_only=True):
    """The gate and the parts that belong to it."""

    gate: PermissionGate
    grants: Grants
    session_grants: SessionGrants
    contenders: PermissionContenders
    live: LiveSettings


def build_permissions(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    setup: PermissionSetup,
    rules: RuleChanges,
    *,
    model: ModelParts,
    hooks: HookParts,
    recording: Recording,
) -> PermissionParts:
    """Build the gate; changes of the mode are reported to hooks and to the user."""
    session_grants = SessionGrants(
        start.session_grants,
        lambda record: state.background.start(recording.recorder.write(record)),
    )
    grants = Grants(
        start.current_settings,
        rules.add,
        session=list(start.session_grants.grants),
        on_session_change=session_grants.set_rules,
    )
    contenders = PermissionContenders(
        start.current_settings, directory=start.directory, env=start.own_env, warn=start.warn
    )
    classifier = contenders.classifier(
        model.small,
        user_messages=late.user_messages,
        is_on=lambda: late.seat() is not None or late.gate().mode is Mode.AUTO,
        level=lambda: late.gate().context.sandbox.level,
    )
    audit = AuditLog(
        start.environment.agent_home / "audit" / f"{date.today():%Y-%m}.jsonl",
        session_id=start.session.id,
        redact=recording.redactor.text,
        mode=late.mode,
        cwd=late.cwd,
        directory=start.environment.launch_dir,
        notify=start.warn,
    )
    gate = late.gate.bind(
        PermissionGate(
            setup.context,
            _handler(start, late, hooks, [classifier], contenders.remote()),
            audit=audit,
            grants=grants,
            auto_available=is_auto_available(start.settings),
            notify=start.warn,
        )
    )
    hosts = _session_hosts(start, gate, grants, session_grants)
    connect_sandbox(start.sandbox, hosts, start.environment, audit)
    at_start = start.settings
    live = LiveSettings(
        start.settings,
        load=lambda: settings_for(start.options, start.environment, at_start),
        gate=gate,
        runner=hooks.runner,
        in_force=start.current_settings.replace,
        notify=start.user.notify,
        approve=hooks.dispatch.may_change_settings,
        sandbox=lambda settings: sandbox_state(start.sandbox.available, start.options, settings),
    )

    def on_mode(mode: Mode) -> None:
        hooks.session.permission_mode = str(mode)

    gate.on_before_allow(live.refresh_settings)
    gate.on_mode_change(on_mode)
    gate.on_mode_change(rules.report_stripped)
    return PermissionParts(
        gate=gate, grants=grants, session_grants=session_grants, contenders=contenders, live=live
    )


def _session_hosts(
    start: StartContext, gate: PermissionGate, grants: Grants, session_grants: SessionGrants
) -> SessionHosts:
    """Return what decides about hosts, including hosts granted to a resumed session."""
    ask = start.user.ask
    return SessionHosts(
        start.sandbox.settings,
        lambda: gate.context,
        ask.decide_host if ask is not None else None,
        grants.store,
        start.warn,
        granted_hosts=start.session_grants.hosts,
        on_grant=session_grants.add_host,
    )


def _handler(
    start: StartContext,
    late: LateParts,
    hooks: HookParts,
    classifiers: Sequence[Contender],
    remote: Sequence[Contender],
) -> Handler:
    """Return the handler that resolves an ask; without a dialog no user is asked."""

    def evaluation(request: PermissionRequest) -> Evaluation:
        return late.gate().current_evaluation(request, cwd=late.cwd())

    def suggest_grants(request: PermissionRequest, pending: Decision) -> Sequence[Grant]:
        from permissions.grants.suggest import suggest  # imported with the first question

        return suggest(evaluation(request), pending)

    hook = HookContender(
        hooks.runner,
        on_outcome=hooks.dispatch.firing.show_outcome,
        suggest=suggest_grants,
        cwd=late.cwd,
    )
    rest = _rest(hook, classifiers, remote, start.user.dialog, late.seat())
    return LocalFirst(LocalClassifier(evaluation), rest)


def _rest(
    hook: Contender,
    classifiers: Sequence[Contender],
    remote: Sequence[Contender],
    dialog: Contender | None,
    seat: LeaderSeat | WorkerSeat | None,
) -> Handler:
    """Return the handler for calls that the local classifier leaves open."""
    others = (hook, *classifiers)
    if isinstance(seat, WorkerSeat):
        return WorkerHandler(others, seat.member.line)
    if dialog is None:
        return HeadlessHandler(others)
    if seat is not None:
        # One after another, because no user is waiting for each question of a team.
        return CoordinatorHandler([*others, *remote, dialog])
    head_start = HookHeadStart(hook, dialog)
    return InteractiveHandler([head_start.first, *classifiers, *remote, head_start.second])
