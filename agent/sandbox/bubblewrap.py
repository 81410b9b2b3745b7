"""The command line of bubblewrap for a policy: the order of mounts is what makes it hold."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from typing import Final

from agent.sandbox.policy import Network, SandboxPolicy
from permissions.paths.resolve import beginnings

_PROC_READ_ONLY: Final = (
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
)
"""Parts of `/proc` that root on the host may change even without capabilities."""


class MountKind(Enum):
    """How a path is mounted."""

    WRITABLE = "writable"
    READ_ONLY = "read-only"
    MASK = "mask"
    EMPTY = "placeholder"


OPENED: Final = (MountKind.WRITABLE, MountKind.EMPTY)
"""Kinds that are mounted by file descriptor."""


def plan_mounts(policy: SandboxPolicy) -> dict[str, MountKind]:
    """Return how each path is mounted. The deeper path takes precedence, deny rules over all."""
    writable = {*policy.write_roots, *policy.caches}
    ways = (
        (policy.pinned_directories, MountKind.WRITABLE),
        ((*policy.write_roots, *policy.caches), MountKind.WRITABLE),
        (policy.read_only, MountKind.READ_ONLY),
        (policy.session_directories, MountKind.WRITABLE),
        (policy.missing_directories, MountKind.EMPTY),
        ([path for path in policy.visible if path not in writable], MountKind.READ_ONLY),
        (policy.secret, MountKind.MASK),
        (policy.daemons, MountKind.MASK),
        ((policy.temp_dir,), MountKind.WRITABLE),
    )
    mounts = {path: kind for paths, kind in ways for path in paths}
    denied_prefixes = beginnings(policy.denied_paths)
    remaining = {
        path: kind for path, kind in mounts.items() if not f"{path}/".startswith(denied_prefixes)
    }
    return remaining | dict.fromkeys(policy.denied_paths, MountKind.MASK)


def mount_arguments(
    policy: SandboxPolicy,
    mounts: Mapping[str, MountKind],
    descriptors: Mapping[str, int],
    *,
    hides_processes: bool = True,
) -> list[str]:
    """Return the options for files and namespaces, without the program and the filter.

    Args:
        mounts: What `plan_mounts` returned for the policy.
        descriptors: An open descriptor for each path whose kind is in `OPENED`, or of the session's
            directory that takes its place. The path must not be resolved again, since a command
            that runs meanwhile could replace it by a link.
    """
    arguments = [
        *("--ro-bind", "/", "/", "--dev", "/dev", *_proc(hides_processes)),
        *("--bind", policy.temp_dir, "/tmp"),
        *(() if policy.unix_sockets or policy.network is Network.HOST else ("--tmpfs", "/run")),
    ]
    for path in sorted(mounts, key=len):
        arguments += _mount(path, mounts[path], descriptors)
    # Last: the mounts below a mask needed a writable directory for their mount points.
    for path, kind in mounts.items():
        if kind is MountKind.MASK and os.path.isdir(path):
            arguments += ("--remount-ro", path)
    return [
        *arguments,
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *(("--unshare-net",) if policy.network is Network.OFF else ()),
        *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--chdir", policy.cwd),
    ]


def _proc(is_own: bool) -> list[str]:
    if not is_own:
        return ["--ro-bind", "/proc", "/proc"]
    mounts = [part for path in _PROC_READ_ONLY for part in ("--ro-bind-try", path, path)]
    return ["--proc", "/proc", *mounts]


def _mount(path: str, kind: MountKind, descriptors: Mapping[str, int]) -> tuple[str, ...]:
    match kind:
        case MountKind.WRITABLE:
            return ("--bind-fd", str(descriptors[path]), path)
        case MountKind.READ_ONLY:
            return ("--ro-bind", path, path)
        case MountKind.EMPTY:
            # By descriptor: a link that a command puts in its place is not followed.
            return ("--ro-bind-fd", str(descriptors[path]), path)
        case MountKind.MASK:
            return ("--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", "/dev/null", path)
