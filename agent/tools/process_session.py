"""The processes of one session: who still lives, and a signal for all of them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable


def session_members(session: int) -> tuple[int, ...]:
    """Return the live processes of a session, the leader included; empty when there are none.

    Where the system has no /proc only the group of the leader is seen.
    """
    if _has_proc():
        return tuple(pid for pid, _ in _members_by_proc(session))
    try:
        os.killpg(session, 0)
    except (ProcessLookupError, PermissionError):
        return ()
    return (session,)


def signal_session(session: int, number: signal.Signals) -> None:
    """Send a signal to every process of a session; those that are gone already are no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)
    # Programs such as `timeout` make groups of their own inside the session.
    if _has_proc():
        signal_processes(
            (pid for pid, group in _members_by_proc(session) if group != session), number
        )


def signal_processes(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to these processes; those that are gone already are no error."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _has_proc() -> bool:
    return os.path.exists("/proc/self/stat")


def _members_by_proc(session: int) -> list[tuple[int, int]]:
    """Return process and group of each live member."""
    members = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                status = file.read()
        except OSError:
            continue
        # The name in parentheses may hold anything; state, parent, group, session follow it.
        state, _parent, group, owner = status[status.rfind(b")") + 2 :].split()[:4]
        if state not in (b"Z", b"X") and int(owner) == session:
            members.append((int(entry), int(group)))
    return members
