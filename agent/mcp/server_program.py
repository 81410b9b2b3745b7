"""The program of a local server: its command and environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.settings.project_root import find_project_root
from permissions.base.process.safe_python import safe_python_program, without_empty_entries
from permissions.base.process.spawn import Launch
from permissions.base.text.late_pattern import compile_late

_INHERITED: Final = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
)
"""Variables about the machine and the user, without secrets."""
_PACKAGE_RUNNERS: Final = frozenset(
    """
    bun bunx deno hatch npm npx pdm pipenv pipx pnpm pnpx poetry tsx uv uvx yarn
    """.split()
)
"""Programs that load packages, settings, and even the interpreter (`node_modules/.bin/node`) from
the current directory, regardless of options."""
_WORD_ENDS: Final = compile_late(r"""[\s'"`;|&<>(){}$=]+""")


def server_program(
    definition: ServerDefinition, env: Mapping[str, str], launch_dir: Path, empty_dir: Path
) -> Launch:
    """Return the launch of the program.

    Args:
        env: Environment of our own commands, of which a server gets only a part.
        empty_dir: Working directory of package runners for servers that do not belong to a project,
            so that the project's files cannot choose the code.
    """
    own_env = {
        name: value
        for name, value in {**env, **without_empty_entries(env)}.items()
        if definition.inherits_env or name in _INHERITED or name.startswith("LC_")
    }
    root = str(find_project_root(launch_dir))
    variables = {
        "CLAUDECODE": "1",
        "CLAUDE_PROJECT_DIR": root,
        "AGENT_TUI_PROJECT_DIR": root,
    }
    launch = Launch(
        argv=(definition.command, *definition.args),
        env={**own_env, **variables, **definition.env},
        cwd=definition.cwd or launch_dir,
    )
    is_of_no_project = definition.scope in ("managed", "user") and definition.cwd is None
    return _without_project(launch, empty_dir) if is_of_no_project else launch


def _without_project(launch: Launch, empty_dir: Path) -> Launch:
    """Return a launch that does not run code from the current directory."""
    program, *args = launch.argv
    # Anywhere: `sh -c 'exec npx …'`, `env X=1 npx`.
    words = (word for argument in launch.argv for word in _WORD_ENDS.split(argument))
    if any(os.path.basename(word) in _PACKAGE_RUNNERS for word in words):
        absolute_args = [
            os.path.join(launch.cwd or "", one) if one.split("/")[0] in (".", "..") else one
            for one in args
        ]
        return replace(launch, argv=(program, *absolute_args), cwd=empty_dir)
    return replace(launch, env={**safe_python_program(launch.argv), **launch.env})
