"""Unix sockets of daemons that run, as the user or as root, what they are sent.

A program that reaches one is not confined: a container mounts the disk, systemd starts any program.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

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
_OF_THE_USER: Final = (
    "docker.sock",
    "podman/podman.sock",
    "containerd/containerd.sock",
    "buildkit/*.sock",
    "libvirt/*-sock",
    "systemd/private",
    "bus",
)
"""Below the user's runtime directory."""
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
    """Return the canonical paths of those that are there, without those that the user allows."""
    runtime = env.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    patterns = [
        *_ELSEWHERE,
        *(f"/run/{name}" for name in _OF_THE_SYSTEM),
        *(f"{glob.escape(runtime)}/{name}" for name in _OF_THE_USER),
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
