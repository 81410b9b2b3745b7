"""A process with the program already imported that starts runs of it by forking.

Hundreds of real runs would otherwise spend their time on imports. Reads one JSON object a line:
`{"arguments", "cwd", "env", "out", "file_limit"}`, the limit in bytes or null. Answers with the
run's process number, and once it has ended with its exit status (negative for a signal).
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
from pathlib import Path


def main() -> None:
    """Serve until standard input ends."""
    import agent.assembly.assemble  # noqa: F401 - imported for those who are forked
    import tui.cli
    import tui.conversation.model_choice
    import tui.startup.start  # noqa: F401

    for line in sys.stdin:
        order = json.loads(line)
        limited = order["file_limit"] is not None
        # What a run with a limit prints goes through a pipe, or it would be cut as well.
        reader, writer = os.pipe() if limited else (-1, -1)
        process = os.fork()
        if process == 0:
            _run(order, writer)
        print(process, flush=True)
        if limited:
            os.close(writer)
            with os.fdopen(reader, "rb") as printed:
                Path(order["out"]).write_bytes(printed.read())
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(order: dict[str, object], out: int) -> None:
    status = 70
    try:
        os.chdir(str(order["cwd"]))
        os.environ.clear()
        env = order["env"]
        assert isinstance(env, dict)
        os.environ.update(env)
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
