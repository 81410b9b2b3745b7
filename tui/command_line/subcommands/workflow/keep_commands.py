"""`agent-tui workflow save` and `gc`: save scripts of runs, and delete finished runs."""

from __future__ import annotations

import json
import time

import click

from agent.errors import AgentError
from agent.orchestration.saved_workflow import save_workflow
from tui.command_line.subcommands.places import current_directories, settings_here
from tui.command_line.subcommands.workflow.journal_here import (
    found_run,
    is_owned,
    journal,
    with_json,
)

DAYS = 30
ALL_RUNS = 1_000_000


@click.command("save")
@with_json
@click.argument("run_id", metavar="RUN")
@click.argument("name", metavar="NAME")
def save(as_json: bool, run_id: str, name: str) -> int:
    """Save a run's script as the workflow NAME."""
    with journal() as store:
        run = found_run(store, run_id)
    try:
        path = save_workflow(run, name, settings_here(current_directories()).project_root)
    except AgentError as error:
        raise click.ClickException(str(error)) from error
    click.echo(json.dumps({"name": name, "path": str(path)}) if as_json else f"saved: {path}")
    return 0


@click.command("gc")
@with_json
@click.option(
    "--days", default=DAYS, show_default=True, help="Keep runs that ended within this many days."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
def collect(as_json: bool, days: int, dry_run: bool) -> int:
    """Delete finished runs with their agents' results."""
    oldest_end = time.time() - days * 86_400
    with journal() as store:
        old = [
            run
            for run in store.runs.newest(ALL_RUNS)
            if run.state.is_over and not is_owned(run) and (run.ended_at or 0) < oldest_end
        ]
        for run in old if not dry_run else ():
            store.steps.remove_run(run.id)
    if as_json:
        click.echo(json.dumps({"deleted": [run.id for run in old], "dryRun": dry_run}))
    else:
        for run in old:
            click.echo(run.id)
        click.echo(f"{len(old)} runs {'would be' if dry_run else 'were'} deleted")
    return 0
