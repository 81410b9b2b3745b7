"""Files of this program that it shares with others, made its own.

Some installers (uv) link every file of a package from their cache into each environment. A command
that may write the cache, or the environment of a project, would write this program as well. What it
imports is part of the interpreter: this runs before anything else of the program is loaded.
"""

import contextlib
import os
import shutil
import sysconfig


def separate_files() -> None:
    """Copy the installed files of this user that have other names elsewhere. Raises nothing."""
    for top in dict.fromkeys(map(sysconfig.get_path, ("purelib", "platlib", "scripts"))):
        for directory, _, names in os.walk(top):
            for name in names:
                with contextlib.suppress(OSError):
                    _separate(os.path.join(directory, name))


def _separate(path: str) -> None:
    status = os.lstat(path)
    if status.st_nlink < 2 or status.st_uid != os.geteuid() or os.path.islink(path):
        return
    copy = f"{path}.{os.getpid()}"
    try:
        shutil.copy2(path, copy)
        os.replace(copy, path)
    except OSError:
        os.unlink(copy)
        raise
