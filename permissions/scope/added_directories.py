"""Which directories an answer may add to the working directories for a session."""

from __future__ import annotations

import os
from typing import Final

from permissions.context import PermissionContext
from permissions.paths.protected_paths import Protection, protection_of
from permissions.paths.resolve import is_below

_SYSTEM: Final = tuple(
    """
    /bin /boot /dev /etc /lib /lib64 /proc /sbin /sys /usr
    """.split()
)


def may_be_added(directory: str, context: PermissionContext) -> bool:
    """Return whether a directory may become a working directory for a session.

    False for one around the home or a working directory, for system directories, for protected
    ones, and for hidden ones of the home (`~/.ssh`): writes there are asked about one by one.

    Args:
        directory: Canonical.
    """
    home = os.path.realpath(context.home)
    own_places = [home, *map(os.path.realpath, (context.launch_dir, *context.additional_dirs))]
    if any(is_below(one, directory) for one in own_places):
        return False
    if any(
        is_below(directory, one) for one in (*_SYSTEM, *map(os.path.realpath, context.own_dirs))
    ):
        return False
    is_hidden = is_below(directory, home) and directory[len(home) :].startswith("/.")
    return not is_hidden and protection_of(directory) is Protection.NONE
