"""A process with the program already imported that starts runs of it by forking.

Hundreds of real runs would otherwise spend their time on imports. Reads one JSON object a line:
`{"arguments", "cwd", "env", "out"}`; answers with the run's process number, and once it has ended
with its exit status (negative for a signal).
"""

from __future__ import annotations

import json
import os
import sys
import traceback


def main() -> None:
    """Serve until standard input ends."""
    import agent.assemble  # noqa: F401 - imported for those who are forked
    import tui.model_choice
    import tui.start  # noqa: F401
    from agent.model.sdk import load_sdk

    load_sdk()
    for line in sys.stdin:
        order = json.loads(line)
        process = os.fork()
        if process == 0:
            _run(order)
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(order: dict[str, object]) -> None:
    status = 70
    try:
        os.chdir(str(order["cwd"]))
        os.environ.clear()
        env = order["env"]
        assert isinstance(env, dict)
        os.environ.update(env)
        out = os.open(str(order["out"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, nothing), (1, out), (2, out)):
            os.dup2(source, target)
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
