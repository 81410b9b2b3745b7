"""Stands for the interpreter that starts a worker of a team: has `tests.soak.zygote` fork one.

Arguments: the socket, the real interpreter, and what that one would be given. It ends when the
worker has ended, and passes on what it is asked to end with.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys


def main() -> None:
    """Return once the worker has ended."""
    place, interpreter, *arguments = sys.argv[1:]
    if arguments[1:2] != ["worker"]:
        os.execv(interpreter, [interpreter, *arguments])
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(place)
    order = {"arguments": arguments[1:], "cwd": os.getcwd(), "env": dict(os.environ)}
    socket.send_fds(connection, [json.dumps(order).encode()], [0, 1, 2])
    worker = int(connection.recv(100) or 0)

    def pass_on(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    while connection.recv(100):
        pass


if __name__ == "__main__":
    main()
