"""Variables that confined hooks set for later commands, for a command that is not confined.

Such a hook writes shell code. A confined command sources it; for an unconfined one it is run
separately, confined to reading, and only the variables that it sets are used.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.settings.sections.project_limits import is_forbidden_variable
from hooks.execution.env_files import is_of_others
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch
from permissions.confinement import Confinement

_LIMITS: Final = RunLimits(5.0, stderr_bytes=0)
_OF_THE_SHELL: Final = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "TMPDIR"})


async def without_foreign_code(
    files: list[Path], env: dict[str, str], *, cwd: Path, bash: str, sandbox: Sandbox
) -> tuple[list[Path], dict[str, str]]:
    """Return the files that an unconfined command reads first, and its environment.

    Files of confined hooks are left out; the variables they set are in the environment. Raises
    CannotStart if one of them fails.
    """
    foreign_files = [file for file in files if is_of_others(file)]
    if not foreign_files or not sandbox.confines_hooks:
        return files, env
    variables = await _hook_variables(foreign_files, env, cwd=cwd, bash=bash, sandbox=sandbox)
    return [file for file in files if file not in foreign_files], {**env, **variables}


async def _hook_variables(
    files: Sequence[Path], env: Mapping[str, str], *, cwd: Path, bash: str, sandbox: Sandbox
) -> dict[str, str]:
    """Return what the files set, except variables a project may not set. Raises CannotStart."""
    script = "".join(f". {shlex.quote(str(file))} >/dev/null\n" for file in files)
    program = Launch((bash, "--noprofile", "--norc", "-c", f"{script}exec env -0"), env, cwd)
    request = RunRequest(Confinement.READ_ONLY, visible=tuple(map(str, files)))
    launch = await asyncio.to_thread(sandbox.launch, program, request)
    result = await run_program(launch, _LIMITS)
    if result.exit_code != 0:
        raise CannotStart("what hooks wrote to CLAUDE_ENV_FILE does not run to its end")
    run = launch.confined_run
    own_variables = run.policy.env if isinstance(run, SandboxRun) else {}
    pairs = [one.partition("=") for one in result.stdout.decode(errors="replace").split("\0")]
    return {
        name: value
        for name, _, value in pairs
        if name
        and env.get(name) != value
        and name not in _OF_THE_SHELL
        and name not in own_variables
        and not is_forbidden_variable(name)
    }
