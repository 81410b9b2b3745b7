"""Runs a program from one that the agent runs already, whose limits apply to both.

Unlike `run_program` it imports no event loop: a wrapper is started with each call of the wrapped
program.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence


def run_inside(argv: Sequence[str], env: Mapping[str, str], stdin: bytes) -> bytes | None:
    """Run a program to its end in this process's session; return its output.

    Returns None if it does not start or exits with a status other than 0.
    """
    try:
        result = subprocess.run(argv, env=env, input=stdin, capture_output=True, check=False)
    except OSError:
        return None
    return result.stdout if result.returncode == 0 else None
