"""Who owns a run or a step: a process of a machine, which can be known to have ended."""

from __future__ import annotations

import contextlib
import os
import uuid


def new_owner() -> str:
    """Return a name by which this process owns a run."""
    return f"{_machine()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def is_gone(owner: str) -> bool:
    """Whether an owner is known to have ended: a process of this machine that is not there.

    False for those of other machines, whose lease alone decides.
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
    """Return the machine, and on Linux the namespace in which process ids count."""
    namespace = ""
    with contextlib.suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    return f"{os.uname().nodename}/{namespace}"
