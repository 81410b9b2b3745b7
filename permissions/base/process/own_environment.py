"""Hides the secrets in this process's environment from other processes.

`/proc/PID/environ` shows the block that a program was started with, even after variables were
removed. So the bytes themselves are overwritten.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from permissions.base.process.child_environment import is_secret

_PR_SET_DUMPABLE: Final = 4


def hide_secrets() -> None:
    """Overwrite secrets where other processes could read them; `os.environ` keeps them.

    On Linux other processes of the same user also cannot read its memory, and there is no core
    dump. Call it before an untrusted program is started; raises nothing, and may be called again.
    """
    try:
        # The import takes two milliseconds, too long before the first frame.
        import ctypes
    except ImportError:
        return
    library = ctypes.CDLL(None)
    try:
        entries = ctypes.POINTER(ctypes.c_void_p).in_dll(library, "environ")
    except ValueError:  # not on this system
        return
    secret_entries: list[tuple[int, int, bytes]] = []
    position = 0
    while entries and (address := entries[position]) is not None:
        entry = ctypes.string_at(address)
        name = entry.partition(b"=")[0]
        if is_secret(os.fsdecode(name)):
            secret_entries.append((address, len(entry), name))
        position += 1
    for address, size, name in secret_entries:
        os.unsetenv(name)
        ctypes.memset(address, 0, size)
    if sys.platform == "linux":
        library.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
