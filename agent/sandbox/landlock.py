"""The level `files`: Landlock confines what `project_files` may write; it has no network.

Landlock cannot exclude a path below a directory that it allows. A directory that contains a
protected name is therefore not allowed itself; its entries are, one by one, so that nothing new can
be created in it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.sandbox.policy import Network, SandboxPolicy
from agent.sandbox.seccomp import AF_UNIX, filter_program
from permissions.paths.resolve import is_below

LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_DEVICES: Final = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
)


def held_by_landlock(
    policy: SandboxPolicy, *, git_writes: bool, unix_sockets: bool
) -> SandboxPolicy:
    """Return the part of a policy that Landlock can enforce: no file is hidden, `/tmp` is the
    host's.

    Args:
        git_writes: Whether the working directories are writable as a whole, including repositories
            and protected names.
        unix_sockets: Whether Unix sockets are allowed, and with them the daemons that listen on
            them.
    """
    closed_paths = () if git_writes else (*policy.read_only, *policy.repositories)
    return replace(
        policy,
        network=Network.NO_SOCKETS,
        unix_sockets=unix_sockets,
        read_only=tuple(dict.fromkeys(closed_paths)),
        closed_directories=tuple(_directories_to(closed_paths, policy.write_roots)),
        watched_names=(*policy.watched_names, *policy.missing_directories),
        missing_directories=(),
        pinned_directories=(),
        denied_paths=(),
        daemons=(),
        secret=(),
        visible=("/",),
    )


def landlock_arguments(policy: SandboxPolicy) -> list[str]:
    """Return the command line in front of a program; the policy is one of `held_by_landlock`."""
    specification = {
        "write": [policy.temp_dir, *policy.caches, *policy.write_roots],
        "devices": _DEVICES,
        "kept": policy.read_only,
        "filter": filter_program((AF_UNIX,) if policy.unix_sockets else ()).hex(),
    }
    return [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(specification)]


def _directories_to(paths: Iterable[str], roots: Iterable[str]) -> dict[str, None]:
    """Return the directories from the roots down to each path, in order."""
    directories: dict[str, None] = {}
    for path in paths:
        for root in (one for one in roots if path != one and is_below(path, one)):
            parent = os.path.dirname(path)
            while is_below(parent, root):
                directories[parent] = None
                parent = os.path.dirname(parent)
    return directories
