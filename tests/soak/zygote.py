"""A process with the program already imported that starts runs of it by forking.

Hundreds of real runs would otherwise spend their time on imports. Reads one JSON object a line:
`{"arguments", "cwd", "env", "out", "file_limit"}`, the limit in bytes or null. Answers with the
run's process number, and once it has ended with its exit status (negative for a signal).

Workers of a team that a run starts are forked as well, by a second process: what stands for the
interpreter in that run is a script that has it fork one (`tests.soak.worker_client`).
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Final

LATE: Final = (
    "agent.assembly.assemble",
    "agent.assembly.team.team_member",
    "agent.assembly.team.team_setup",
    "agent.headless",
    "agent.teams.executors.choose_executor",
    "anyio._backends._asyncio",
    "h11",
    "httpx2",
    "sqlite3",
    "tui.cli",
    "tui.command_line.subcommands.worker_command",
    "tui.conversation.model_choice",
    "tui.startup.start",
    "watchfiles",
)
"""What runs import by and by; those who are forked have it."""
MAX_ORDER: Final = 1_000_000


def main() -> None:
    """Serve until standard input ends."""
    for name in LATE:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as directory:
        interpreter = _serve_workers(Path(directory))
        for line in sys.stdin:
            order = json.loads(line)
            limited = order["file_limit"] is not None
            # What a run with a limit prints goes through a pipe, or it would be cut as well.
            reader, writer = os.pipe() if limited else (-1, -1)
            process = os.fork()
            if process == 0:
                sys.executable = str(interpreter)
                _run(order, writer)
            print(process, flush=True)
            if limited:
                os.close(writer)
                with os.fdopen(reader, "rb") as printed:
                    Path(order["out"]).write_bytes(printed.read())
            _, status = os.waitpid(process, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)


def _serve_workers(directory: Path) -> Path:
    """Begin to fork workers; return what stands for the interpreter that starts one."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(directory / "socket"))
    listener.listen(64)
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            if select.select([listener], [], [], 1.0)[0]:
                _fork_worker(listener)
        os._exit(0)
    listener.close()
    client = Path(__file__).with_name("worker_client.py")
    script = directory / "python"
    words = (sys.executable, "-I", "-S", str(client), str(directory / "socket"), sys.executable)
    script.write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
    script.chmod(0o700)
    return script


def _fork_worker(listener: socket.socket) -> None:
    """Fork one worker. It holds the connection for as long as it lives: its end is the end."""
    # Reaped by the system; a worker itself waits for what it starts.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    connection, _ = listener.accept()
    line, descriptors, _, _ = socket.recv_fds(connection, MAX_ORDER, 3)
    process = os.fork()
    if process == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        os.setsid()
        connection.sendall(f"{os.getpid()}\n".encode())
        for target, source in enumerate(descriptors):
            os.dup2(source, target)
            os.close(source)
        _run_here(json.loads(line))
    for descriptor in descriptors:
        os.close(descriptor)
    connection.close()


def _run(order: dict[str, object], out: int) -> None:
    try:
        if out < 0:
            out = os.open(str(order["out"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, nothing), (1, out), (2, out)):
            os.dup2(source, target)
        limit = order["file_limit"]
        if isinstance(limit, int):
            # Python would leave cut files of bytecode behind, for every later start.
            sys.dont_write_bytecode = True
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    except BaseException:  # noqa: BLE001 - a forked child must never return into the loop above
        traceback.print_exc()
        os._exit(70)
    _run_here(order)


def _run_here(order: dict[str, object]) -> None:
    """Run the program in this process, and end it."""
    status = 70
    try:
        os.chdir(str(order["cwd"]))
        os.environ.clear()
        env = order["env"]
        assert isinstance(env, dict)
        os.environ.update(env)
        # Looked for again, as in a new interpreter: this process has found one already.
        tempfile.tempdir = None
        from tui.cli import main as program

        arguments = order["arguments"]
        assert isinstance(arguments, list)
        status = program(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - a forked child must never return into the loop above
        traceback.print_exc()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
