"""Tool services without a conversation: no user is asked, and the mode never changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from agent.permission_config.tool_scope import WorkingDirectories
from agent.settings.load import Settings
from agent.tools.file_state import FileState
from agent.tools.services import ModePort, ToolServices
from agent.tools.shell.shells import ShellRegistry
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.context import PermissionContext


class _NoModes:
    """Always the default mode."""

    mode = "default"

    def enter_plan_mode(self) -> None: ...

    def leave_plan_mode(self, mode: str) -> None: ...


def bare_services(
    settings: Settings,
    env: Mapping[str, str],
    scratch: Path,
    context: PermissionContext,
    may_search: Callable[[Path], bool] | None = None,
) -> ToolServices:
    """Return the services of one run.

    Args:
        settings: provide the directories.
        env: for child processes.
        scratch: directory for results that are too long.
        context: the working directories.
        may_search: see `ToolServices`.
    """
    modes: ModePort = _NoModes()
    return ToolServices(
        launch_dir=settings.launch_dir,
        cwd=settings.launch_dir,
        home=settings.home,
        scratch_dir=scratch,
        results_dir=scratch,
        env=env,
        reading=ReadingPrograms(env, settings.project_root, lambda program: program),
        files=FileState(),
        shells=ShellRegistry(),
        scope=WorkingDirectories(lambda: context),
        mode=modes,
        session_id="served",
        may_search=may_search,
    )
