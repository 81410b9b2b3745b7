"""Owners of runs and steps: processes, identified by machine and process id."""

from __future__ import annotations

import contextlib
import os
import uuid


def new_owner() -> str:
    """Return a new name that identifies this process as an owner."""
    return f"{_machine()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def is_gone(owner: str) -> bool:
    """Return whether an owner is known to have ended, as a process of this machine.

    False for owners on other machines, for which only the lease decides.
    """
    machine, _, rest = owner.rpartition(":")[0].rpartition(":")
    if machine != _machine() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def _machine() -> str:
    """Return the machine's name, and on Linux its namespace of process ids."""
    namespace = ""
    with contextlib.suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    return f"{os.uname().nodename}/{namespace}"
