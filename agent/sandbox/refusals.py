"""What the sandbox refused, derived from a failed program's output and checked against its policy.

The kernel does not say which call it refused; programs do, in their messages. Only a path that the
policy really forbids is reported.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from agent.sandbox.git.git_stops import read_stops
from agent.sandbox.policy import (
    GIT_STOPPED,
    GIT_UNKNOWN,
    NO_NETWORK,
    OUTSIDE,
    PROTECTED,
    READING,
    Network,
    SandboxPolicy,
)
from permissions.base.text.late_pattern import compile_late
from permissions.paths.resolve import is_below

_MAX_CALLS: Final = 50
_TAIL_CHARS: Final = 20_000
_MAX_REFUSALS: Final = 10
_REFUSED: Final = compile_late(
    r"read-only file system|permission denied|operation not permitted|device or resource busy"
    r"|EROFS|EACCES|EPERM|EBUSY|no such file or directory|ENOENT|file exists|is a directory"
    r"|invalid cross-device link|EXDEV",
    re.IGNORECASE,
)
_CERTAIN: Final = compile_late(r"read-only file system|EROFS", re.IGNORECASE)
_QUOTED: Final = compile_late(r"""['"‘`]([^'"’`\n]{1,400})['"’`]""")
_LAST_FIELD: Final = compile_late(r"(?:^|: )([^\s:]{1,400}):? *$")
_PLAIN: Final = compile_late(r"""[^\s'"‘’`:;,()]{1,400}""")
_UNREACHABLE: Final = compile_late(
    r"could not resolve(?: host(?:name)?)?:? *['\"]?(?P<a>[\w.-]+\.[\w.-]+)"
    r"|getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (?P<b>[\w.-]+)"
    r"|(?:failed to (?:establish|connect)|couldn't connect|unable to (?:access|connect))[^\n]*?"
    r"(?://|to )(?P<c>[\w.-]+)"
    r"|host='(?P<d>[\w.-]+)'",
    re.IGNORECASE,
)
_NO_NETWORK: Final = compile_late(
    r"network is unreachable|ENETUNREACH|temporary failure in name resolution"
    r"|name or service not known|no address associated|could not resolve",
    re.IGNORECASE,
)
_FAMILY: Final = "address family not supported|EAFNOSUPPORT"
_NO_FAMILY: Final = compile_late(_FAMILY, re.IGNORECASE)
_NO_SOCKET: Final = compile_late(
    f"not permitted|cannot connect|EPERM|(?P<family>{_FAMILY})", re.IGNORECASE
)
_SOCKET_PATH: Final = compile_late(r"/(?!/)[\w./-]+\.sock(?:et)?\b|/run/[\w./-]+")
_SOCKET_NAME: Final = compile_late(
    r"docker daemon|dbus|ssh-agent|authentication agent", re.IGNORECASE
)


class RefusalKind(StrEnum):
    """What was attempted."""

    WRITE = "write"
    READ = "read"
    CONNECT = "connect"
    SOCKET = "socket"


class Refusal(Struct, frozen=True):
    """One refused attempt of a confined program."""

    kind: RefusalKind
    target: str
    """A path, a host (`name:port` where known), or a kind of socket."""
    rule: str
    """The part of the confinement that forbids it."""
    moved_to: str = ""
    """Where a planted file was moved."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `sandbox run`."""
        place = {"moved_to": self.moved_to} if self.moved_to else {}
        return {"kind": str(self.kind), "target": self.target, "rule": self.rule, **place}


def find_refusals(policy: SandboxPolicy, output: str) -> tuple[Refusal, ...]:
    """Return what the policy refused, as far as the output of a failed program names it."""
    by_target: dict[tuple[RefusalKind, str], Refusal] = {}
    for line in output[-_TAIL_CHARS:].splitlines():
        for refusal in (*_of_files(policy, line), *_of_network(policy, line)):
            by_target.setdefault((refusal.kind, refusal.target), refusal)
    return tuple(by_target.values())[:_MAX_REFUSALS]


def find_git_stops(output: str) -> tuple[Refusal, ...]:
    """Return the paths for which git was not run, even if the command as a whole succeeded."""
    stops = dict.fromkeys(read_stops(output[-_TAIL_CHARS:]))
    return tuple(
        Refusal(RefusalKind.WRITE, path, GIT_STOPPED if is_known else GIT_UNKNOWN)
        for path, is_known in stops
    )[:_MAX_REFUSALS]


def _of_files(policy: SandboxPolicy, line: str) -> Iterator[Refusal]:
    message = _REFUSED.search(line)
    if message is None:
        return
    is_certain = _CERTAIN.search(line) is not None
    text_before, text_after = line[: message.start()], line[message.end() :]
    for path in (*_paths(policy, text_before), *_paths(policy, text_after)):
        read_rule, write_rule = policy.read_refusal(path), policy.write_refusal(path)
        if read_rule is not None:
            yield Refusal(RefusalKind.READ, path, read_rule)
            return
        if write_rule is not None and (
            is_certain or write_rule == PROTECTED or _is_by_landlock(policy, path)
        ):
            yield Refusal(RefusalKind.WRITE, path, write_rule)
            return
    if is_certain:
        yield Refusal(RefusalKind.WRITE, "", READING if not policy.write_roots else OUTSIDE)


def _is_by_landlock(policy: SandboxPolicy, path: str) -> bool:
    """Whether Landlock refuses a write that file permissions would allow."""
    if os.path.isfile(path) and os.access(path, os.X_OK):
        return False  # the program that prints the message
    place = path if os.path.lexists(path) else os.path.dirname(path)
    return policy.network is Network.NO_SOCKETS and os.access(place, os.W_OK)


def _paths(policy: SandboxPolicy, text: str) -> Iterator[str]:
    """Yield absolute paths that a text may name: those in quotes first, then the last first."""
    candidates = [match[1] for match in _QUOTED.finditer(text)]
    if not candidates:
        # The form of most programs: `program: path: message`.
        candidates = _LAST_FIELD.findall(text)
    plain = [match[0] for match in _PLAIN.finditer(text)]
    for name in (*candidates, *reversed(plain)):
        path = os.path.normpath(os.path.join(policy.cwd, name))
        if name in candidates or "/" in name or name[0] == "." or os.path.lexists(path):
            yield path


def _of_network(policy: SandboxPolicy, line: str) -> Iterator[Refusal]:
    has_sockets = policy.network is not Network.NO_SOCKETS
    if policy.network is Network.OFF or not has_sockets:
        match = _UNREACHABLE.search(line)
        if match is not None:
            host = next(group for group in match.groups() if group)
            yield Refusal(RefusalKind.CONNECT, host.rstrip("."), NO_NETWORK)
        elif _NO_NETWORK.search(line) or not (has_sockets or _NO_FAMILY.search(line) is None):
            yield Refusal(RefusalKind.CONNECT, "", NO_NETWORK)
    yield from _of_daemons(policy, line)
    message = None if policy.unix_sockets else _NO_SOCKET.search(line)
    if message is not None:
        match = _SOCKET_PATH.search(line) or _SOCKET_NAME.search(line)
        if match is not None or (message["family"] and has_sockets):
            target = match[0] if match is not None else ""
            yield Refusal(RefusalKind.SOCKET, target, "no Unix sockets")


def _of_daemons(policy: SandboxPolicy, line: str) -> Iterator[Refusal]:
    match = _SOCKET_PATH.search(line) if policy.daemons and "connect" in line.lower() else None
    path = os.path.realpath(match[0]) if match is not None else ""
    if match is not None and any(is_below(path, one) for one in policy.daemons):
        yield Refusal(RefusalKind.SOCKET, match[0], "a daemon that runs what it is sent")


class RefusedCall(Struct, frozen=True):
    """A command and what it was refused."""

    command: str
    refusals: tuple[Refusal, ...]


class RefusalLog:
    """The latest commands that were refused something."""

    def __init__(self) -> None:
        """Nothing was refused yet."""
        self._calls: deque[RefusedCall] = deque(maxlen=_MAX_CALLS)

    def add(self, command: str, refusals: Sequence[Refusal]) -> None:
        """Add a command; ignored without refusals."""
        if refusals:
            self._calls.appendleft(RefusedCall(command, tuple(refusals)))

    def latest(self) -> tuple[RefusedCall, ...]:
        """Return them, newest first."""
        return tuple(self._calls)
