"""Room for another program: descriptors and processes may have run out for the moment."""

from __future__ import annotations

import errno
import resource
from typing import Final

SHORTAGES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
WAIT_S: Final = 5.0
"""How long a hook waits for others to end; longer would look like a hang."""
POLL_S: Final = 0.02
MOST_DESCRIPTORS: Final = 4096


def raise_descriptor_limit() -> bool:
    """Lift this process's soft limit of open files; False where that is not possible any more.

    Some systems start programs with 256, which a hundred hooks at once use up.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return False
    return True
