"""What this machine can enforce, proven by running a program that attempts what is forbidden."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.sandbox.availability import Availability, Backend
from agent.sandbox.confined_launch import confined_launch
from agent.sandbox.find_bubblewrap import find_bubblewrap
from agent.sandbox.launcher import landlock_version
from agent.sandbox.placeholders import Placeholders
from agent.sandbox.policy import Network, SandboxPolicy
from agent.sandbox.seatbelt import PROGRAM as SEATBELT
from agent.sandbox.seccomp import is_supported
from permissions.base.process.run_program import ProcessResult, run_blocking
from permissions.base.process.spawn import CannotStart, Launch
from permissions.confinement import Confinement, SandboxLevel

TIMEOUT_S: Final = 10.0
_HELD: Final = "held"
_SCRIPT: Final = """
if (echo x > "$1/outside") 2>/dev/null; then echo wrote outside
elif (echo x > "$TMPDIR/inside") 2>/dev/null; then echo held
else echo no temporary files
fi"""
_USER_NAMESPACES: Final = (
    "user namespaces are refused",
    "in Docker: --security-opt seccomp=unconfined (or a profile that permits user namespaces); "
    "on Debian and Ubuntu: sysctl kernel.unprivileged_userns_clone=1",
)
_APPARMOR: Final = (
    "user namespaces are restricted by AppArmor",
    "sudo apt-get install apparmor-profiles && sudo ln -s "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
    "sudo systemctl reload apparmor",
)
_REASONS: Final = (
    (
        "--bind-fd",
        (
            "it is too old and would follow a link that a command puts in the way (CVE-2024-42472)",
            "install its security update, or agent-tui with the extra [sandbox]",
        ),
    ),
    ("RTM_NEWADDR", _APPARMOR),
    ("setting up uid map", _USER_NAMESPACES),
    ("Creating new namespace failed", _USER_NAMESPACES),
    ("No permissions to create", _USER_NAMESPACES),
    ("Failed to make / slave", ("mounts are refused, as in most containers", "")),
    ("pivot_root", ("the root file system cannot be exchanged (an initramfs?)", "")),
    ("nesting depth", ("a sandbox around this program permits no other inside", "")),
)


def probe(bwrap: str | None = None) -> Availability:
    """Return what can be enforced here. Takes some 40 ms where bubblewrap works.

    Args:
        bwrap: The administrator's choice of the program.
    """
    if sys.platform == "darwin":
        return _seatbelt()
    if sys.platform != "linux" or not is_supported():
        return _none("no sandbox is supported on this system")
    full = _bubblewrap(bwrap)
    if full.level is SandboxLevel.FULL:
        return full
    files = Availability(SandboxLevel.FILES, Backend.LANDLOCK, "", full.reason, full.fix)
    if landlock_version() and _failure(files) is None:
        return files
    return replace(full, reason=f"{full.reason}; Landlock is missing or switched off")


def _bubblewrap(choice: str | None) -> Availability:
    program = find_bubblewrap(choice)
    if program is None:
        return _none(
            "bubblewrap is not installed",
            "apt-get install bubblewrap (or dnf, pacman, apk add), "
            "or install agent-tui with the extra [sandbox]",
        )
    full = Availability(SandboxLevel.FULL, Backend.BUBBLEWRAP, program)
    failure = _failure(full)
    if failure is not None and "proc" in failure:
        # In a container whose /proc is partly masked, no new /proc may be mounted.
        full = replace(full, hides_processes=False)
        failure = _failure(full)
    if failure is None:
        return full
    reason, fix = next((hint for text, hint in _REASONS if text in failure), (failure, ""))
    if reason == _USER_NAMESPACES[0] and _has_no_user_namespaces():
        fix = "sysctl user.max_user_namespaces=15000"
    return _none(f"bubblewrap fails: {reason}", fix)


def _has_no_user_namespaces() -> bool:
    """Return whether the limit of user namespaces is zero."""
    try:
        return Path("/proc/sys/user/max_user_namespaces").read_text().strip() == "0"
    except OSError:
        return False


def _seatbelt() -> Availability:
    available = Availability(SandboxLevel.FULL, Backend.SEATBELT, SEATBELT)
    if not os.access(SEATBELT, os.X_OK):
        return _none(f"{SEATBELT} is missing")
    failure = _failure(available)
    if failure is None:
        return available
    return _none(f"sandbox-exec fails: {failure}")


def _none(reason: str, fix: str = "") -> Availability:
    return Availability(SandboxLevel.NONE, Backend.NONE, reason=reason, fix=fix)


def _failure(available: Availability) -> str | None:
    """Run the probe under a backend; return the failure, or None if the confinement holds."""
    try:
        directory = os.path.realpath(tempfile.mkdtemp(prefix="agent-tui-probe-"))
    except OSError as error:
        return f"no temporary directory: {error.strerror}"
    try:
        return _run(available, Path(directory))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run(available: Availability, directory: Path) -> str | None:
    outside, temp_dir, run_dir = (directory / name for name in ("outside", "tmp", "run"))
    for each in (outside, temp_dir):
        each.mkdir()
    is_full = available.level is SandboxLevel.FULL
    policy = SandboxPolicy(
        confinement=Confinement.READ_ONLY if is_full else Confinement.PROJECT_FILES,
        cwd=str(temp_dir),
        temp_dir=str(temp_dir),
        visible=(str(outside),),
        network=Network.OFF if is_full else Network.NO_SOCKETS,
        env={"TMPDIR": str(temp_dir)},
    )
    program = Launch(("/bin/sh", "-c", _SCRIPT, "sh", str(outside)), {"PATH": os.defpath})
    try:
        launch = confined_launch(program, policy, available, Placeholders(run_dir), run_dir)
        result = run_blocking(launch, timeout_s=TIMEOUT_S)
    except CannotStart as error:
        return str(error)
    return _judge_result(result)


def _judge_result(result: ProcessResult) -> str | None:
    if result.timed_out:
        return f"a program in it did not end in {TIMEOUT_S:g} s"
    output = result.stdout.decode(errors="replace").strip()
    if result.exit_code == 0 and output == _HELD:
        return None
    return result.stderr.decode(errors="replace").strip() or output or "no reason given"
