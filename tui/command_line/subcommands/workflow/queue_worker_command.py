"""`agent-tui workflow worker`: runs agents of workflow runs of other machines."""

from __future__ import annotations

from typing import Any

import click

from agent.errors import AgentError
from agent.options import RunOptions
from permissions.base.process.worker_threads import run_to_end
from tui.command_line.subcommands.places import current_directories
from tui.command_line.subcommands.workflow.run_commands import postgres_url, use_journal_of

AT_ONCE = 10


@click.command("worker")
@click.option(
    "--queue", metavar="URL", required=True, callback=postgres_url, help="A Postgres database."
)
@click.option(
    "--concurrency",
    default=AT_ONCE,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Number of agents at once.",
)
@click.option("--model", help="Model for agents that do not name one.")
@click.option("--permission-mode", help="Permission mode of the agents.")
@click.option(
    "--allow", multiple=True, metavar="RULE", help="Allow rule for the agents. Repeatable."
)
@click.option("--deny", multiple=True, metavar="RULE", help="Deny rule for the agents. Repeatable.")
@click.option("--trust", is_flag=True, help="Trust this folder for this run.")
def queue_worker(queue: str, concurrency: int, **session: Any) -> int:
    """Run agents here for runs that other machines started with --queue, at the same commit.

    Ctrl+C ends it; other workers run what it leaves.
    """
    use_journal_of(queue)
    from tui.startup.workflow_session import run_worker  # imports most of the program

    options = RunOptions(headless=True, name="workflow worker", **session)
    try:
        return run_to_end(run_worker(options, current_directories().cwd, queue, concurrency))
    except AgentError as error:
        raise click.ClickException(str(error)) from error
