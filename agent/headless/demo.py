"""The demo: a temporary copy of the sample project, and the scripted model server."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.model.endpoint import ModelSetup
from agent.model.endpoint_config import Endpoint
from agent.model.scripted.demo import DEMO_MODEL, copy_sample, demo_variables
from agent.model.scripted.process import ScriptedProcess
from permissions.base.files.temporary_directories import OwnedDirectory, make_owned_directory
from permissions.base.process.child_environment import child_environment
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import CannotStart, Launch

DEMO_KEY = "demo"
_GIT_S: Final = 5.0
"""Time limit for one git command, in seconds."""
_GIT_CONFIG: Final = {
    "user.name": "demo",
    "user.email": "demo@localhost",
    "init.defaultBranch": "main",
}


class Demo(Struct):
    """A running demo; close it to end the server and remove the copy."""

    project: Path
    setup: ModelSetup
    _server: ScriptedProcess
    _directory: OwnedDirectory

    async def aclose(self) -> None:
        """End the server and remove the scratch copy."""
        await self._server.aclose()
        self._directory.remove()


def demo_project() -> tuple[OwnedDirectory, Path]:
    """Make the temporary copy; return its parent (to remove later) and the project directory.

    Copies that killed demos left behind are removed.

    Raises:
        OSError: it cannot be written.
    """
    directory = make_owned_directory("agent-tui-demo-")
    project = copy_sample(directory.path / "basket")
    _commit_to_git(project)
    return directory, project


def _commit_to_git(project: Path) -> None:
    """Make the copy a git repository, like a user's project; without git it is not changed.

    The user's git configuration is not used: no templates, hooks, signatures or other directories.
    """
    git = shutil.which("git")
    if git is None:
        return
    env = {
        name: value
        for name, value in child_environment(os.environ, {}).items()
        if not name.startswith("GIT_")
    }
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    options = [part for name, value in _GIT_CONFIG.items() for part in ("-c", f"{name}={value}")]
    for step in (
        ("init", "--quiet", "--template="),
        ("add", "--all"),
        ("commit", "--quiet", "--no-verify", "--message", "The basket"),
    ):
        try:
            result = run_blocking(Launch((git, *options, *step), env, project), timeout_s=_GIT_S)
        except CannotStart:
            result = None
        if result is None or result.exit_code != 0:
            shutil.rmtree(project / ".git", ignore_errors=True)
            return
    with contextlib.suppress(OSError):
        # Files that Python creates when the tests run must not count as changes.
        (project / ".git" / "info").mkdir(exist_ok=True)
        (project / ".git" / "info" / "exclude").write_text("__pycache__/\n", encoding="utf-8")


async def start_demo(directory: OwnedDirectory, project: Path) -> Demo:
    """Start the scripted server for a copy of the sample.

    Raises:
        OSError: it did not start; the text says why.
    """
    server = ScriptedProcess("demo", variables=demo_variables(project))
    url = await server.start()
    setup = ModelSetup(
        endpoint=Endpoint(base_url=url, api_key=DEMO_KEY),
        model=DEMO_MODEL,
        small_model=DEMO_MODEL,
        origin="embedded demo",
    )
    return Demo(project, setup, server, directory)
