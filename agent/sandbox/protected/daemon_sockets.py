"""Unix sockets of daemons that run programs on request, as the user or as root.

A program that can connect to one is not confined: a container mounts the disk, systemd starts any
program. Sockets of the user's own session (editors, window managers, terminals) cannot be listed,
and one that accepts key presses could answer a question in the user's name. They are found by their
owner and through environment variables; only those known to be harmless stay reachable.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from agent.sandbox.protected.protected_mounts import directory_entries
from permissions.base.text.late_pattern import compile_late
from permissions.paths.resolve import is_below

_OF_THE_SYSTEM: Final = (
    "docker.sock",
    "podman/podman.sock",
    "containerd/containerd.sock",
    "crio/crio.sock",
    "buildkit/buildkitd.sock",
    "libvirt/*-sock",
    "systemd/private",
    "dbus/system_bus_socket",
    "snapd.socket",
)
"""Patterns below `/run`."""
_HARMLESS: Final = (
    "gcr",
    "gnupg",
    "keyring",
    "openssh_agent",
    "p11-kit",
    "pipewire-*",
    "pulse",
    "ssh-agent*",
    "vscode-git-*.sock",
    "wayland-*",
)
"""Below the user's runtime directory: agents for signing and passwords, audio, display."""
_IN_HOME: Final = (
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".colima/*/docker.sock",
    ".rd/docker.sock",
)
_ELSEWHERE: Final = ("/var/lib/incus/unix.socket", "/var/lib/lxd/unix.socket")
_SEPARATORS: Final = compile_late("[,:;=]")
"""Separators of addresses in variables: `unix:///run/docker.sock`, `unix:path=/run/bus,guid=1`."""
_RUN: Final = "/run"


def daemon_sockets(
    home: Path,
    env: Mapping[str, str],
    allowed_paths: Iterable[str] = (),
    working_dirs: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the canonical paths of existing sockets, without those that the user allows.

    The user's runtime directory is included as a whole; `harmless_sockets` has its exceptions.

    Args:
        working_dirs: A socket in these that a variable names belongs to the project, such as its
            database.
    """
    patterns = [
        *_ELSEWHERE,
        *(f"{_RUN}/{name}" for name in _OF_THE_SYSTEM),
        glob.escape(_runtime_dir(env)),
        *(f"{glob.escape(str(home))}/{name}" for name in _IN_HOME),
    ]
    paths = [path for pattern in patterns for path in glob.glob(pattern)]
    project = tuple(working_dirs)
    named_paths = [path for path in _named_sockets(env) if not _is_below_one(path, project)]
    paths += [*_of_this_user(), *named_paths]
    real_paths = {os.path.realpath(path) for path in allowed_paths}
    canonical = dict.fromkeys(os.path.realpath(path) for path in paths if os.path.exists(path))
    return tuple(path for path in canonical if path not in real_paths)


def _of_this_user() -> Iterator[str]:
    """Yield this user's entries below `/run`, except for the runtime directory."""
    uid = os.getuid()
    for entry in directory_entries(_RUN):
        if entry.name == "user" or entry.is_symlink():
            continue
        status = entry.stat(follow_symlinks=False)
        if status.st_uid == uid != 0:
            yield entry.path
        elif stat.S_ISDIR(status.st_mode) and (uid != 0 or status.st_mode & stat.S_ISVTX):
            # Root's entries in the other directories belong to the system.
            inside = directory_entries(entry.path)
            yield from (one.path for one in inside if _owner(one) == uid)


def _is_below_one(path: str, directories: Iterable[str]) -> bool:
    return any(is_below(os.path.realpath(path), one) for one in directories)


def _owner(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except OSError:
        return None


def _named_sockets(env: Mapping[str, str]) -> Iterator[str]:
    """Yield the sockets of this user and of root that variables name, except for signing agents.

    Sockets of other users (databases) run nothing as this user.
    """
    owners = {0, os.getuid()}
    for name, value in env.items():
        if name == "SSH_AUTH_SOCK":
            continue
        for path in _SEPARATORS.split(value):
            if not path.startswith("/") or "\0" in path:
                continue
            try:
                status = os.stat(path)
            except OSError:
                continue
            is_harmless = any(fnmatch.fnmatch(os.path.basename(path), one) for one in _HARMLESS)
            if stat.S_ISSOCK(status.st_mode) and status.st_uid in owners and not is_harmless:
                yield f"/{path.lstrip('/')}"


def harmless_sockets(env: Mapping[str, str], allowed_paths: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the paths in the user's runtime directory that stay reachable, including those that
    the user allows."""
    runtime = _runtime_dir(env)
    paths = [path for name in _HARMLESS for path in glob.glob(f"{glob.escape(runtime)}/{name}")]
    return (*paths, *(path for path in allowed_paths if is_below(os.path.realpath(path), runtime)))


def _runtime_dir(env: Mapping[str, str]) -> str:
    """Return the runtime directory; the default if the variable names a shared one such as
    `/tmp`."""
    usual = f"/run/user/{os.getuid()}"
    path = os.path.realpath(env.get("XDG_RUNTIME_DIR") or usual)
    return usual if path.count("/") < _RUNTIME_DEPTH else path


_RUNTIME_DEPTH: Final = 2
"""Minimum number of slashes: `/tmp` and `/run` are shared by all users."""
