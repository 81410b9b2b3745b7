"""The program of a local server: its environment, and what it is started with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.settings.project_root import find_project_root
from permissions.base.process.safe_python import safe_python_program
from permissions.base.process.spawn import Launch

_INHERITED: Final = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
)
"""Variables that say where the program is, and nothing that is secret."""


def server_program(
    definition: ServerDefinition, env: Mapping[str, str], launch_dir: Path
) -> Launch:
    """Return what to start.

    Args:
        env: What commands of this program inherit; a server gets little of it.
    """
    own_env = {
        name: value
        for name, value in env.items()
        if definition.inherits_env or name in _INHERITED or name.startswith("LC_")
    }
    root = str(find_project_root(launch_dir))
    variables = {
        "CLAUDECODE": "1",
        "CLAUDE_PROJECT_DIR": root,
        "AGENT_TUI_PROJECT_DIR": root,
    }
    argv = (definition.command, *definition.args)
    is_of_no_project = definition.scope == "user" and definition.cwd is None
    safe = safe_python_program(argv) if is_of_no_project else {}
    return Launch(
        argv=argv,
        env={**own_env, **variables, **safe, **definition.env},
        cwd=definition.cwd or launch_dir,
    )
