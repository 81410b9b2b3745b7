"""Wires what tools may use of the conversation, and what they may know of the permission gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent.assembly.start_context import StartContext
from agent.model.small_model import SmallModel
from agent.permission_config.tool_scope import WorkingDirectories
from agent.tools.file_state import FileState
from agent.tools.services import ToolServices
from agent.tools.shell.shells import ShellRegistry
from permissions.decision import Reason
from permissions.gate import PermissionGate
from permissions.mode import Mode, parse_mode
from permissions.request import PermissionRequest


def tool_services(
    start: StartContext, gate: PermissionGate, *, small: SmallModel, env_files: list[Path]
) -> ToolServices:
    """Return the services of one conversation's tools, at the start of it."""
    environment, resumed = start.environment, start.resumed
    services = ToolServices(
        launch_dir=environment.launch_dir,
        cwd=environment.launch_dir,
        home=environment.home,
        scratch_dir=start.scratch,
        results_dir=start.results,
        env=start.env,
        files=FileState(),
        shells=ShellRegistry(),
        scope=WorkingDirectories(lambda: gate.context),
        mode=_Modes(gate),
        session_id=start.session.id,
        person=start.user.ask,
        small_model=small,
        todos=resumed.todos if resumed is not None else (),
        blocked_hosts=tuple(sorted(gate.context.blocked_hosts)),
        may_search=lambda path: _may_search(gate, path, services.cwd),
        env_files=env_files,
    )
    return services


def ended_shells(shells: ShellRegistry) -> Callable[[], list[str]]:
    """Return what tells the model of background commands that ended since it was last called."""

    def reports() -> list[str]:
        return [
            f"The background command {shell.id} (`{shell.command[:200]}`) ended with exit code "
            f"{shell.exit_code}. BashOutput shows what it wrote."
            for shell in shells.take_finished()
        ]

    return reports


def _may_search(gate: PermissionGate, path: Path, cwd: Path) -> bool:
    """Whether rules let the contents of a file appear among search results."""
    request = PermissionRequest("Read", {"file_path": str(path)})
    return gate.evaluate(request, cwd=cwd).reason not in {Reason.DENY_RULE, Reason.ASK_RULE}


class _Modes:
    """The permission mode as tools see it."""

    def __init__(self, gate: PermissionGate) -> None:
        self._gate = gate

    @property
    def mode(self) -> str:
        return str(self._gate.mode)

    def enter_plan_mode(self) -> None:
        self._gate.enter_plan_mode()

    def leave_plan_mode(self, mode: str) -> None:
        self._gate.leave_plan_mode(parse_mode(mode) or Mode.DEFAULT)
