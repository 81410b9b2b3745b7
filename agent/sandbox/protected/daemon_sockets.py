"""Unix sockets of daemons that run, as the user or as root, what they are sent.

A program that reaches one is not confined: a container mounts the disk, systemd starts any program.
What belongs to the user's own session (editors, window managers, terminals) cannot be listed: what
takes keys can answer a question in the user's name. Owners and the environment, in which programs
name the socket of what they run in, say what belongs to it; only what is known to be harmless is
left.
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
"""Below `/run`; patterns."""
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
"""Below the user's runtime directory: agents that sign or know passwords, sound and windows."""
_IN_HOME: Final = (
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".colima/*/docker.sock",
    ".rd/docker.sock",
)
_ELSEWHERE: Final = ("/var/lib/incus/unix.socket", "/var/lib/lxd/unix.socket")
_SEPARATORS: Final = compile_late("[,:;=]")
"""Of addresses in variables: `unix:///run/docker.sock`, `unix:path=/run/bus,guid=1`."""
_RUN: Final = "/run"


def daemon_sockets(
    home: Path,
    env: Mapping[str, str],
    allowed_paths: Iterable[str] = (),
    working_dirs: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return the canonical paths of those that are there, without those that the user allows.

    One is the user's runtime directory; `harmless_sockets` are below it.

    Args:
        working_dirs: What variables name in these belongs to the project, as its database does.
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
    """Yield what this user has below `/run`, beside the runtime directory."""
    uid = os.getuid()
    for entry in directory_entries(_RUN):
        if entry.name == "user" or entry.is_symlink():
            continue
        status = entry.stat(follow_symlinks=False)
        if status.st_uid == uid != 0:
            yield entry.path
        elif stat.S_ISDIR(status.st_mode) and (uid != 0 or status.st_mode & stat.S_ISVTX):
            # What is root's in the other directories belongs to the system.
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
    """Yield the sockets of this user and of root that variables name, but for agents that sign.

    Those of other users (databases) run nothing as this one.
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
    """Return the paths of the user's runtime directory that stay, those that the user allows among
    them."""
    runtime = _runtime_dir(env)
    paths = [path for name in _HARMLESS for path in glob.glob(f"{glob.escape(runtime)}/{name}")]
    return (*paths, *(path for path in allowed_paths if is_below(os.path.realpath(path), runtime)))


def _runtime_dir(env: Mapping[str, str]) -> str:
    """Return it; where the variable names a directory with other things in it, the usual one."""
    usual = f"/run/user/{os.getuid()}"
    path = os.path.realpath(env.get("XDG_RUNTIME_DIR") or usual)
    return usual if path.count("/") < _RUNTIME_DEPTH else path


_RUNTIME_DEPTH: Final = 2
"""`/tmp` and `/run` are of all users."""
