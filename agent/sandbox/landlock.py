"""The level `files`: Landlock confines what `project_files` may write."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from agent.sandbox.policy import SandboxPolicy
from agent.sandbox.seccomp import WITH_UNIX, filter_program

LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_DEVICES: Final = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
)


def landlock_arguments(policy: SandboxPolicy) -> list[str]:
    """Return the command line in front of a program.

    Landlock cannot protect a name below a writable directory, hide a file or change `/tmp`: inside
    the working directories nothing is protected at this level.
    """
    writable = [policy.temp_dir, *_DEVICES, *policy.caches, *policy.write_roots]
    specification = {"write": writable, "filter": filter_program(WITH_UNIX).hex()}
    return [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(specification)]
