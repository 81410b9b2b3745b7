"""Build what confines the programs of a session, from the probe, the options and the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent.assembly.environment import Environment
from agent.assembly.late import Late
from agent.options import RunOptions
from agent.permission_config.permission_context import permission_setup
from agent.sandbox.availability import Availability, Backend
from agent.sandbox.placeholders import sweep
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import Sandbox
from agent.settings.load import Settings
from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.gate import PermissionGate

_OFF: Final = frozenset({"off", "danger-full-access"})


def probe_sandbox(options: RunOptions, environment: Environment) -> Availability:
    """Return what confines commands in this run; takes some 50 ms, for a thread."""
    sweep(_state_dir(environment))
    if options.sandbox in _OFF:
        return Availability(
            SandboxLevel.NONE, Backend.NONE, reason=f"switched off by --sandbox {options.sandbox}"
        )
    return probe()


def sandbox_state(available: Availability, options: RunOptions, settings: Settings) -> SandboxState:
    """Return what decisions need to know of the sandbox."""
    del settings
    return SandboxState(
        level=available.level,
        works_inside=options.sandbox == "workspace-write",
        is_read_only=options.sandbox == "read-only",
    )


def build_sandbox(
    available: Availability,
    gate: Late[PermissionGate],
    settings: Settings,
    environment: Environment,
    scratch: Path,
) -> Sandbox:
    """Build the sandbox; until the gate is there, it goes by the settings of the start."""
    first = permission_setup(settings, bypass_available=False, scratch_dir=scratch).context

    def context() -> PermissionContext:
        return gate().context if gate.is_bound else first

    return Sandbox(available, context, state_dir=_state_dir(environment))


def _state_dir(environment: Environment) -> Path:
    return environment.agent_home / "sandbox"
