"""The process of one workflow script: runs it in QuickJS, and imports nothing of this program.

Started with an empty environment in an empty directory. Standard input receives JSON
lines: first the start, then answers to calls. Standard output gets the calls (`{"calls": […]}`)
and the end (`{"value": …}` or `{"error": …}`).

The engine allows no callbacks while a time limit is set: the script's calls are collected in an
outbox, which is read after each round of jobs, and answers are passed in.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

BACKSTOP_S = 5
"""Additional processor seconds after which the operating system kills the process."""
STACK_BYTES = 512 * 1024
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_SET_NO_NEW_PRIVILEGES = 38
_FILE_ACCESS = (1 << 13) - 1
"""All file accesses of the first Landlock version: execute, read, write, create, remove."""


class ScriptEnded(Exception):
    """The script cannot continue; the text is the reason."""


def main() -> None:
    """Run the script that standard input provides."""
    import quickjs  # type: ignore[import-untyped]  # while files can still be read

    start = json.loads(sys.stdin.buffer.readline())
    _restrict(start["cpu_s"])
    try:
        context = quickjs.Context()
        context.set_memory_limit(start["memory_bytes"])
        context.set_max_stack_size(STACK_BYTES)
        control = context.eval(start["prelude"])
        context.set_time_limit(start["cpu_s"])
        script = context.eval(start["source"])
        control("start", start["args"], start["budget"], script)
        _run_jobs(context, control, start)
    except ScriptEnded as error:
        _send({"error": str(error)})
    except quickjs.StackOverflow:
        _send({"error": "the script nests too deeply"})
    except quickjs.JSException as error:
        _send({"error": _error_line(str(error))})


def _run_jobs(context: Any, control: Callable[..., Any], start: dict[str, Any]) -> None:
    while True:
        while context.execute_pending_job():
            # Each job has a limit; this one is for scripts that keep starting new jobs.
            if time.process_time() > start["cpu_s"]:
                raise ScriptEnded("the script exceeded its limit of processor time")
        calls = control("take")
        state = control("state")
        if len(calls) + len(state) > start["message_bytes"]:
            raise ScriptEnded("the script sends or returns too much at once")
        if calls != "[]":
            _write('{"calls":' + calls + "}")
        if state not in ("idle", "waiting"):
            _write(state)
            return
        if state == "idle":
            raise ScriptEnded("the script waits for something that never comes")
        line = sys.stdin.buffer.readline()
        if not line:
            return
        for answer in json.loads(line)["answers"]:
            control("settle", *answer)


def _error_line(error: str) -> str:
    """Return the first line of an error, with the script's line number for a syntax error."""
    first, *trace = error.encode("utf-8", "replace").decode().strip().splitlines() or ["it failed"]
    if "interrupted" in first:
        return "the script exceeded its limit of processor time"
    place = trace[0].rpartition("<input>:")[2].partition(":")[0] if trace else ""
    return f"{first} (line {place})" if first.startswith("SyntaxError") and place else first


def _restrict(cpu_s: float) -> None:
    whole_s = int(cpu_s) + BACKSTOP_S
    for kind, value in (
        (resource.RLIMIT_CPU, whole_s),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 8),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (value, value))
    if sys.platform == "linux":
        _deny_files()


def _deny_files() -> None:
    """Deny this process access to all files, if the kernel supports Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    access = ctypes.c_uint64(_FILE_ACCESS)
    ruleset = libc.syscall(_LANDLOCK_CREATE, ctypes.byref(access), ctypes.sizeof(access), 0)
    if ruleset < 0:
        return
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _send(message: dict[str, Any]) -> None:
    _write(json.dumps(message))


def _write(line: str) -> None:
    data = line.encode("utf-8", "surrogatepass") + b"\n"
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
