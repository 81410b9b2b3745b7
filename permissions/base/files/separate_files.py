"""Replaces the hard links among this program's files by copies.

Some installers (uv) hard-link every file of a package from their cache into each environment. A
command that may write the cache, or the environment of a project, could change this program as
well. Imports only the standard library: this runs before anything else of the program is loaded.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from importlib import metadata


def separate_files(name: str) -> None:
    """Copy the files of a distribution, of its dependencies, and of distributions with `.pth`
    files, if this user owns them and they have other hard links. Raises nothing."""
    dependencies = _dependencies(name)
    for one in metadata.distributions():
        files = one.files or ()
        runs_at_start = any(file.suffix == ".pth" for file in files)
        if runs_at_start or _key(one.metadata["Name"] or "") in dependencies:
            for file in files:
                with contextlib.suppress(OSError):
                    _separate(str(one.locate_file(file)))


def _dependencies(name: str) -> set[str]:
    names, keys = [_key(name)], set[str]()
    while names:
        one = names.pop()
        if one not in keys:
            keys.add(one)
            names += _requirements(one)
    return keys


def _requirements(name: str) -> Iterator[str]:
    with contextlib.suppress(metadata.PackageNotFoundError):
        for requirement in metadata.requires(name) or ():
            # Also those of extras: they may be installed.
            yield _key(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


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
