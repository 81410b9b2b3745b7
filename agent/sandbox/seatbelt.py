"""macOS: a Seatbelt profile and the command line of `sandbox-exec`.

Written from the documented profile language; not tried on a Mac.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agent.sandbox.policy import Network, SandboxPolicy

PROGRAM: Final = "/usr/bin/sandbox-exec"

_BASE: Final = """(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow file-read*)
(allow sysctl-read)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow user-preference-read)
(allow pseudo-tty)
(allow file-ioctl (literal "/dev/ptmx"))
(allow file-write-data (require-all (path "/dev/null") (vnode-type CHARACTER-DEVICE)))
(allow file-read* file-write* (literal "/dev/ptmx"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.cfprefsd.daemon")
  (global-name "com.apple.cfprefsd.agent")
  (global-name "com.apple.SecurityServer"))
"""


def seatbelt_arguments(policy: SandboxPolicy) -> list[str]:
    """Return the command line in front of a program. Paths are parameters, never profile text."""
    parameters: dict[str, str] = {}
    lines = [_BASE]

    def add(rule: str, paths: Iterable[str]) -> None:
        for path in paths:
            name = f"PATH_{len(parameters)}"
            parameters[name] = path
            lines.append(rule.replace("%", f'(subpath (param "{name}"))'))

    # The last rule that matches decides.
    add("(deny file-read* %)", policy.secret)
    add("(allow file-read* %)", policy.visible)
    add("(allow file-write* %)", (*policy.write_roots, *policy.caches))
    protected_paths = (
        *policy.read_only,
        *policy.missing_directories,
        *policy.watched_names,
    )
    add("(deny file-write* %)", protected_paths)
    for path in policy.pinned_directories:
        name = f"PATH_{len(parameters)}"
        parameters[name] = path
        lines.append(f'(deny file-write-unlink (literal (param "{name}")))')
    add("(allow file-read* file-write* %)", (policy.temp_dir,))
    add("(deny file-read* file-write* %)", policy.denied_paths)
    if policy.network is Network.HOST:
        lines.append("(allow network*)")
    elif policy.network is Network.SESSION:
        lines.append('(allow network-outbound (remote ip "localhost:*"))')
    definitions = [f"-D{name}={path}" for name, path in parameters.items()]
    return [PROGRAM, "-p", "\n".join(lines), *definitions]
