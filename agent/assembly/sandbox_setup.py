"""Build the sandbox of a session from the probe, the options and the settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.assembly.environment import Environment
from agent.assembly.late import Late
from agent.errors import ConfigError
from agent.options import RunOptions
from agent.permission_config.permission_context import permission_setup
from agent.permission_config.refusal_offers import RefusalOffers
from agent.sandbox.availability import Availability, Backend
from agent.sandbox.configuration.sandbox_settings import CurrentSandboxSettings, sandbox_settings
from agent.sandbox.configuration.session_hosts import SessionHosts
from agent.sandbox.network.host_log import HostRecord
from agent.sandbox.network.session_network import SessionNetwork
from agent.sandbox.placeholders import sweep
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import Sandbox
from agent.settings.load import Settings
from agent.settings.start_notices import warning_line
from agent.tools.services import AskUser
from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.explain.audit_log import AuditLog
from permissions.explain.explain_decision import place_relative
from permissions.gate import PermissionGate

_OFF: Final = frozenset({"off", "danger-full-access"})


def probe_sandbox(
    options: RunOptions, environment: Environment, settings: Settings
) -> Availability:
    """Return how commands can be confined; takes about 50 ms, so call it in a thread.

    Raises:
        ConfigError: a setting requires the sandbox, and it is not fully available.
    """
    sweep(_state_dir(environment))
    if options.sandbox in _OFF:
        return Availability(
            SandboxLevel.NONE, Backend.NONE, reason=f"switched off by --sandbox {options.sandbox}"
        )
    section = sandbox_settings(settings)
    availability = probe(section.bubblewrap or None)
    is_required = section.enabled and section.fail_if_unavailable
    if is_required and availability.level is not SandboxLevel.FULL:
        raise ConfigError(
            f"The sandbox is not available ({availability.reason}), and "
            f"sandbox.failIfUnavailable is set. {availability.fix}".strip()
        )
    return availability


def sandbox_state(available: Availability, options: RunOptions, settings: Settings) -> SandboxState:
    """Return the state of the sandbox that decisions depend on."""
    section = sandbox_settings(settings)
    is_enabled = options.sandbox is None and section.enabled
    return SandboxState(
        level=available.level,
        works_inside=options.sandbox == "workspace-write"
        or (is_enabled and section.auto_allow_bash),
        is_enabled=is_enabled,
        is_read_only=options.sandbox == "read-only",
        allow_unsandboxed=section.allow_unsandboxed_commands,
        git_writes=section.landlock_git_writes,
        excluded_commands=section.excluded_commands,
    )


def sandbox_notes(settings: Settings) -> list[str]:
    """Return warnings about sandbox settings that have no effect."""
    short = place_relative(str(settings.project_root), str(settings.home))
    warnings = sandbox_settings(settings).warnings
    return [warning_line(each, short) for each in warnings if each.level != "info"]


def build_sandbox(
    available: Availability,
    gate: Late[PermissionGate],
    settings: Callable[[], Settings],
    environment: Environment,
    scratch: Path,
) -> Sandbox:
    """Build the sandbox; until the gate is bound, it uses the settings of the start."""
    first = permission_setup(settings(), bypass_available=False, scratch_dir=scratch).context

    def context() -> PermissionContext:
        return gate().context if gate.is_bound else first

    return Sandbox(
        available,
        context,
        state_dir=_state_dir(environment),
        user_env=lambda: {**environment.env, **settings().own_env},
        settings=CurrentSandboxSettings(settings),
    )


def connect_sandbox(
    sandbox: Sandbox, hosts: SessionHosts, environment: Environment, audit: AuditLog
) -> None:
    """Let commands in the sandbox reach allowed hosts through a proxy; starts nothing yet."""

    def record(entry: HostRecord) -> None:
        audit.write_event(
            "host",
            {
                "tool_use_id": entry.call.id,
                "host": entry.host,
                "port": entry.port,
                "event": entry.event,
                "code": entry.code,
                "reason": entry.reason,
                "sent_bytes": entry.sent_bytes,
                "received_bytes": entry.received_bytes,
            },
        )

    sandbox.network = SessionNetwork(hosts.gate(), env=environment.env, on_record=record)


def refusal_offers(
    sandbox: Sandbox, ask: AskUser | None, gate: PermissionGate
) -> RefusalOffers | None:
    """Return the offers to the user after a refusal; None without a user."""
    return RefusalOffers(gate, sandbox, ask.decide_refusal) if ask is not None else None


def _state_dir(environment: Environment) -> Path:
    return environment.agent_home / "sandbox"
