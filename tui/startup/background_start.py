"""`--bg`: starts the session without a screen, in a process of its own, and returns."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from agent.assembly.environment import environment_from
from agent.errors import AgentError
from agent.exit_status import EXIT_COMPLETED, EXIT_ERROR
from agent.session.background_input import FLAGS
from agent.session.background_runs import BackgroundRuns
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message
from tui.version import version


def start_in_background(arguments: Sequence[str], prompt: str, session_id: str | None) -> int:
    """Start the session in the background and print how to follow it; return the exit status.

    `arguments` are those of this command line; without `session_id` the session gets a new id.
    """
    session = session_id or str(uuid.uuid4())
    own = [argument for argument in arguments if argument not in {"--bg", "--background"}]
    if session_id is None:
        own = ["--session-id", session, *own]
    output = ("-p", "--output-format", "stream-json", *FLAGS)
    argv = [sys.executable, "-P", "-m", "agent_tui", *output, *own]
    try:
        environment = environment_from(os.environ, Path.cwd(), version=version())
        runs = BackgroundRuns(environment.agent_home)
        run = runs.start(
            argv, os.environ, environment.launch_dir, prompt, session, takes_input=True
        )
    except AgentError as error:
        write_message(sys.stderr, f"agent-tui: {sanitize(str(error))}")
        return EXIT_ERROR
    sys.stdout.write(
        f"{run.id}  runs in the background\n"
        f"agent-tui agents attach {run.id}   follows it, answers it, sends it messages\n"
        f"agent-tui agents stop {run.id}     ends it\n"
    )
    return EXIT_COMPLETED
