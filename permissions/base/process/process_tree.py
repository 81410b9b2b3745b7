"""The live processes of one session, and signals to all of them.

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
"""Number of scans, since a process may start another one between two."""


class Member(Struct, frozen=True):
    """One live process of a session."""

    pid: int
    group: int
    name: str
    """Of the program; changed by exec."""


class _Process(Struct, frozen=True):
    member: Member
    session: int
    start_time: int
    """In clock ticks since the machine started."""


def session_members(session: int) -> tuple[Member, ...]:
    """Return the live processes of a session, the leader included; empty when there are none.

    Where the system has no /proc only the group of the leader is seen.
    """
    if _has_proc():
        return tuple(each.member for each in _processes() if each.session == session)
    try:
        os.killpg(session, 0)
    except (ProcessLookupError, PermissionError):
        return ()
    return (Member(session, session, ""),)


class ProcessFamily:
    """A session and the processes that left it: all visible descendants of one command.

    Where the system has no /proc only the group of the leader is seen.
    """

    def __init__(self, session: int, mark: str) -> None:
        """`mark` is the value of `MARK` in the command's environment."""
        self._session = session
        self._mark = f"{MARK}={mark}".encode()
        leader = next(iter(_processes((session,))), None)
        self._start_time = leader.start_time if leader is not None else 0
        """Nothing that began before the leader is its descendant."""

    def members(self) -> tuple[Member, ...]:
        """Return the live processes; empty when there are none."""
        if not _has_proc():
            return session_members(self._session)
        return tuple(
            each.member
            for each in _processes()
            if each.session == self._session
            or (each.start_time >= self._start_time and self._is_marked(each.member.pid))
        )

    def signal(self, number: signal.Signals) -> tuple[Member, ...]:
        """Send a signal to every process and return them; one that has exited is not an error."""
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
        for _ in range(_PASSES):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    environment = file.read()
            except OSError:
                return False  # it has ended, or belongs to another user
            if environment or not os.path.exists(f"/proc/{pid}/exe"):
                return self._mark in environment.split(b"\0")
            # Empty during exec; kernel threads have no exe.
            os.sched_yield()
        return False


def signal_members(members: Iterable[Member], number: signal.Signals) -> None:
    """Send a signal to these processes; one that has exited already is not an error."""
    for member in members:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member.pid, number)


def _has_proc() -> bool:
    return os.path.exists("/proc/self/stat")


def _processes(pids: Iterable[int] | None = None) -> list[_Process]:
    """Return the live processes among these, or all of the system."""
    processes: list[_Process] = []
    names = os.listdir("/proc") if pids is None and _has_proc() else map(str, pids or ())
    for pid in names:
        if not pid.isdigit():
            continue
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                status = file.read()
        except OSError:
            continue
        # The name in parentheses may hold anything; state, parent, group, session follow it.
        end = status.rfind(b")")
        fields = status[end + 2 :].split()
        if fields[0] not in (b"Z", b"X"):
            name = os.fsdecode(status[status.find(b"(") + 1 : end])
            member = Member(int(pid), int(fields[2]), name)
            processes.append(_Process(member, int(fields[3]), int(fields[19])))
    return processes
