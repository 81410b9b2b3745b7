"""Run a program from one that the agent runs already and whose limits therefore hold for both.

It imports no event loop, unlike `run_program`: a program that stands before another one is started
with each call of that.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence


def run_inside(argv: Sequence[str], env: Mapping[str, str], stdin: bytes) -> bytes | None:
    """Run a program to its end in this process's session; return its output.

    Returns None where it does not start or exits with another status than 0.
    """
    try:
        result = subprocess.run(argv, env=env, input=stdin, capture_output=True, check=False)
    except OSError:
        return None
    return result.stdout if result.returncode == 0 else None
