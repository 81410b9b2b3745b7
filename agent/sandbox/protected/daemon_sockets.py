"""Unix sockets of daemons that run, as the user or as root, what they are sent.

A program that reaches one is not confined: a container mounts the disk, systemd starts any program.
What belongs to the user's own session (editors, window managers, terminals) cannot be listed, so of
its directory only what is known to be harmless is left.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

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
_NAMED: Final = ("DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS")
"""Variables with the address of one, such as `unix:///run/docker.sock` or `unix:path=/run/bus`."""


def daemon_sockets(
    home: Path, env: Mapping[str, str], allowed_paths: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the canonical paths of those that are there, without those that the user allows.

    One is the user's runtime directory; `harmless_sockets` are below it.
    """
    patterns = [
        *_ELSEWHERE,
        *(f"/run/{name}" for name in _OF_THE_SYSTEM),
        glob.escape(_runtime_dir(env)),
        *(f"{glob.escape(str(home))}/{name}" for name in _IN_HOME),
    ]
    paths = [path for pattern in patterns for path in glob.glob(pattern)]
    for name in _NAMED:
        scheme, _, address = env.get(name, "").partition(":")
        if scheme == "unix":
            paths.append(address.removeprefix("path=").partition(",")[0])
    real_paths = {os.path.realpath(path) for path in allowed_paths}
    canonical = dict.fromkeys(os.path.realpath(path) for path in paths if os.path.exists(path))
    return tuple(path for path in canonical if path not in real_paths)


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
