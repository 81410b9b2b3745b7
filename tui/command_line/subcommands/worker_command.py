"""`agent-tui worker START`: one worker of a team, started by its leader, not by users.

It writes its progress to standard output, which is a pane or a file. It asks nothing and reads no
input.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Final

import click

from agent.errors import AgentError
from agent.events import AgentEvent, PermissionRequested
from agent.exit_status import EXIT_COMPLETED, EXIT_ERROR
from permissions.base.process.own_environment import hide_secrets
from permissions.base.process.worker_threads import run_to_end
from permissions.base.text.sanitize import sanitize
from tui.startup.plain_printer import PlainPrinter
from tui.version import version

_COLORS: Final = {"red": 41, "green": 42, "yellow": 43, "blue": 44, "magenta": 45, "cyan": 46}


@click.command("worker", short_help="Run one worker of a team; its leader starts it.")
@click.argument("start", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def command(start: Path) -> int:
    """Run the worker that START, a file of its leader, describes."""
    try:
        return run_to_end(_run(start))
    except AgentError as error:
        sys.stderr.write(f"agent-tui: {sanitize(str(error))}\n")
        return EXIT_ERROR


async def _run(path: Path) -> int:
    from agent.assembly.assemble import assemble, environment_from, settings_for  # slow
    from agent.assembly.team.team_member import run_alone
    from agent.teams.executors.executor import read_start
    from tui.conversation.model_choice import real_model

    config = read_start(path)
    path.unlink(missing_ok=True)  # a pane's file contains the environment with its keys
    env = config.env or dict(os.environ)
    hide_secrets()
    environment = environment_from(env, config.cwd, version=version())
    settings = settings_for(config.options, environment)
    setup = await real_model(settings, environment, config.options)
    printer = PlainPrinter(sys.stdout)
    if sys.stdout.isatty():
        bar = f" {config.agent_id} "
        sys.stdout.write(f"\x1b[{_COLORS.get(config.color, 47)};30m{bar}\x1b[K\x1b[0m\n")

    def notify(text: str, _level: str) -> None:
        sys.stdout.write(f"! {sanitize(text)}\n")
        sys.stdout.flush()

    def show(event: AgentEvent) -> None:
        printer.event(event)
        if isinstance(event, PermissionRequested):
            sys.stdout.write(f"  waits for {config.leader_id}\n")
            sys.stdout.flush()

    work = asyncio.ensure_future(
        run_alone(config, assemble, environment, settings, setup, show=show, notify=notify)
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, work.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await work
    return EXIT_COMPLETED
