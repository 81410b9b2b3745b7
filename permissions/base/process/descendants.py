"""What a program started and let go of: found by a mark in the environment that all of it inherits.

A process group forgets whoever calls `setsid`. Where the system has no /proc nothing is found.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Final

MARK: Final = "AGENT_TUI_HOOK_RUN"
"""Its value is another one for each run."""
PASSES: Final = 3
"""A process may start another one between two looks."""


def signal_marked(mark: str, number: signal.Signals) -> None:
    """Send a signal to every live process with the mark; KILL until none is left."""
    for _ in range(PASSES if number is signal.SIGKILL else 1):
        found = list(_marked(f"{MARK}={mark}".encode()))
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        if not found:
            return


def _marked(entry: bytes) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid() and entry in _environment(name):
                yield int(name)


def _environment(pid: str) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # gone, a zombie, or somebody else's
