"""The processes of one session: who still lives, and a signal for all of them.

A program that leaves its session (`setsid`, a daemon) is still known by a mark in its environment.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

MARK: Final = "AGENT_TUI_RUN"
"""Environment variable that every descendant of a program inherits; its value names the run."""
_PASSES: Final = 3
"""A process may start another one between two scans."""


class Member(Struct, frozen=True):
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


class ProcessFamily:
    """A session, and what left it: all that one command started, as far as it can be seen.

    Where the system has no /proc only the group of the leader is seen.
    """

    def __init__(self, session: int, mark: str) -> None:
        """`mark` is the value of `MARK` in the command's environment."""
        self._session = session
        self._mark = f"{MARK}={mark}".encode()
        self._strangers: set[int] = set()

    def members(self) -> tuple[Member, ...]:
        """Return the live processes; empty when there are none."""
        inside = session_members(self._session)
        if not _has_proc():
            return inside
        known = {member.pid for member in inside}
        found = list(inside)
        for pid in _process_ids():
            if pid in known or pid in self._strangers:
                continue
            member = _member(pid) if self._is_marked(pid) else None
            if member is not None:
                found.append(member[0])
            else:
                self._strangers.add(pid)
        return tuple(found)

    def signal(self, number: signal.Signals) -> tuple[Member, ...]:
        """Send a signal to every process and return them; those that have exited are no error."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._session, number)
        members = self.members()
        # Programs such as `timeout` make groups of their own inside the session.
        signal_members((each for each in members if each.group != self._session), number)
        return members

    def kill(self) -> None:
        """Send KILL until no process is left, a few times at most."""
        for _ in range(_PASSES):
            if not self.signal(signal.SIGKILL):
                return

    def _is_marked(self, pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self._mark in file.read().split(b"\0")
        except OSError:
            return False  # gone, or somebody else's


def signal_members(members: Iterable[Member], number: signal.Signals) -> None:
    """Send a signal to these processes; those that are gone already are no error."""
    for member in members:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member.pid, number)


def _has_proc() -> bool:
    return os.path.exists("/proc/self/stat")


def _process_ids() -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def _member(pid: int) -> tuple[Member, int] | None:
    """Return a live process and its session."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            status = file.read()
    except OSError:
        return None
    # The name in parentheses may hold anything; state, parent, group, session follow it.
    end = status.rfind(b")")
    state, _parent, group, owner = status[end + 2 :].split()[:4]
    if state in (b"Z", b"X"):
        return None
    name = os.fsdecode(status[status.find(b"(") + 1 : end])
    return Member(pid, int(group), name), int(owner)


def _members_by_proc(session: int) -> list[Member]:
    found = (_member(pid) for pid in _process_ids())
    return [member for member, owner in filter(None, found) if owner == session]
