"""What is known of shells. What they run is read in `flow.nested_scripts`."""

from __future__ import annotations

from permissions.shell.programs.common_arguments import (
    interpreter,
)
from permissions.shell.programs.program import (
    Program,
)

PROGRAMS = (
    Program("bash", accesses=interpreter, tells_version=True, is_shell=True, exact_only=True),
    Program("sh zsh dash ksh", accesses=interpreter, is_shell=True, exact_only=True),
    Program("mksh rbash tcsh", is_shell=True),
    Program("ash fish csh", is_shell=True, exact_only=True),
    Program("su", is_shell=True, is_root=True, exact_only=True),
)  # fmt: skip
