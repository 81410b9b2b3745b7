"""The network namespace of a session: commands that join it see each other's servers and our proxy,
and nothing else.

No process keeps it alive: its descriptors do, which the system closes when this program ends,
however it ends.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Final

from permissions.base.process.run_program import ProcessResult, RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch

PROXY_PORT: Final = 3128
"""Of the proxy, on 127.0.0.1 inside the namespace."""
_START_S: Final = 20.0
_DESCRIPTORS: Final = 3
# They start in a tenth of the time that Python needs. Fixed paths, since `PATH` may lead into a
# project.
_NSENTER: Final = "/usr/bin/nsenter"
_BASH: Final = "/bin/bash"
_CHILD: Final = (
    sys.executable, "-I", "-S", str(Path(__file__).resolve().with_name("namespace_child.py")),
)  # fmt: skip


class NamespaceRefused(Exception):
    """The system refuses to create the namespace; the message is the reason, for users."""


class NetworkNamespace:
    """A user and a network namespace, open until `close`."""

    def __init__(self, listener: socket.socket, user: int, network: int) -> None:
        """Only `create` calls this."""
        self.listener = listener
        """Listens on `PROXY_PORT` inside the namespace; this process accepts the connections."""
        self._user = user
        self._network = network

    @classmethod
    async def create(cls) -> NetworkNamespace:
        """Create a namespace that has only loopback and the listener.

        Raises:
            NamespaceRefused: the system has no such namespaces, or none for this user.
        """
        ours, theirs = socket.socketpair()
        with ours, theirs:
            descriptor = theirs.fileno()
            launch = Launch(
                (*_CHILD, "create", str(descriptor), str(PROXY_PORT)), {}, pass_fds=(descriptor,)
            )
            try:
                result = await run_program(launch, RunLimits(_START_S))
            except CannotStart as error:
                raise NamespaceRefused(str(error)) from error
            return cls._receive(ours, result)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that a joining program must inherit."""
        return self._user, self._network

    @property
    def join_argv(self) -> tuple[str, ...]:
        """The command-line prefix that runs a program inside; it must inherit `descriptors`.

        It prints a line to standard error and exits if the namespace cannot be entered.
        """
        user, network = self.descriptors
        if not all(os.access(program, os.X_OK) for program in (_NSENTER, _BASH)):
            return (*_CHILD, "join", str(user), str(network))
        return (
            *(_NSENTER, "--preserve-credentials"),
            *(f"--user=/proc/self/fd/{user}", f"--net=/proc/self/fd/{network}", "--"),
            # -p: BASH_ENV is not read here, outside of the sandbox.
            *(_BASH, "-p", "-c", f'exec "$@" {user}<&- {network}<&-', "bash"),
        )

    def close(self) -> None:
        """Close the descriptors; programs inside keep the namespace until they end."""
        self.listener.close()
        for descriptor in self.descriptors:
            os.close(descriptor)

    @classmethod
    def _receive(cls, ours: socket.socket, result: ProcessResult) -> NetworkNamespace:
        ours.setblocking(False)
        try:
            data, fds, _, _ = socket.recv_fds(ours, 1, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            data, fds = b"", []
        if result.exit_code == 0 and data and len(fds) == _DESCRIPTORS:
            return cls(socket.socket(fileno=fds[0]), fds[1], fds[2])
        for descriptor in fds:
            os.close(descriptor)
        reason = result.stderr.decode(errors="replace").strip().rpartition("network namespace: ")[2]
        raise NamespaceRefused(reason or "the network namespace was not made in time")
