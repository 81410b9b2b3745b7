"""The processes of one session: who still lives, and a signal for all of them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """One live process of a session."""

    pid: int
    group: int
    name: str
    """Of the program; it changes when the process becomes another one."""


def session_members(session: int) -> tuple[Member, ...]:
    """Return the live processes of a session, the leader included; empty when there are none.

    Where the system has no /proc only the group of the leader is seen.
    """
    if _has_proc():
        return tuple(_members_by_proc(session))
    try:
        os.killpg(session, 0)
    except (ProcessLookupError, PermissionError):
        return ()
    return (Member(session, session, ""),)


def signal_session(session: int, number: signal.Signals) -> None:
    """Send a signal to every process of a session; those that are gone already are no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(session, number)
    # Programs such as `timeout` make groups of their own inside the session.
    if _has_proc():
        others = (member for member in _members_by_proc(session) if member.group != session)
        signal_members(others, number)


def signal_members(members: Iterable[Member], number: signal.Signals) -> None:
    """Send a signal to these processes; those that are gone already are no error."""
    for member in members:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member.pid, number)


def _has_proc() -> bool:
    return os.path.exists("/proc/self/stat")


def _members_by_proc(session: int) -> list[Member]:
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
        end = status.rfind(b")")
        state, _parent, group, owner = status[end + 2 :].split()[:4]
        if state not in (b"Z", b"X") and int(owner) == session:
            name = os.fsdecode(status[status.find(b"(") + 1 : end])
            members.append(Member(int(entry), int(group), name))
    return members
