"""`agent-tui agents`: list, read, stop and follow the sessions that `--bg` started."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import click
from msgspec.structs import asdict

from agent.errors import AgentError
from agent.session.background_runs import BackgroundRun, BackgroundRuns
from agent.session.store import SessionStore
from agent.settings.project_root import find_project_root
from permissions.base.text.sanitize import sanitize
from tui.command_line.subcommands.attached_session import AttachedSession, transcript_text
from tui.command_line.subcommands.places import current_directories
from tui.command_line.subcommands.whole_texts import WholeTexts
from tui.text.time_ago import time_ago


@click.group(
    "agents",
    cls=WholeTexts,
    invoke_without_command=True,
    short_help="List, read, stop and follow background sessions.",
)
@click.pass_context
def command(context: click.Context) -> None:
    """List, read, stop and follow the sessions that --bg started.

    Without a subcommand, the sessions of this project are listed.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_runs, everywhere=False, as_json=False)


_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_id = click.argument("run_id", metavar="ID")


@command.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Include sessions of every folder.")
@_json
def list_runs(everywhere: bool, as_json: bool) -> None:
    """List background sessions, latest first."""
    runs = _runs()
    project = find_project_root(current_directories().cwd)
    listed_runs = [
        run for run in runs.all() if everywhere or find_project_root(Path(run.cwd)) == project
    ]
    if as_json:
        rows = [{**asdict(run), "state": runs.state(run)} for run in listed_runs]
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    for run in listed_runs:
        title = " ".join(sanitize(run.name or run.prompt).split())[:70]
        age = time_ago(datetime.fromisoformat(run.started_at))
        state = runs.state(run)
        click.echo(f"{run.id}  {state:8}{age:>12}  {title}")
        if state == "asks":
            click.echo(f"          answer it: agent-tui agents attach {run.id}")
    if not listed_runs:
        click.echo("no background sessions" + ("" if everywhere else " here"))


@command.command()
@_id
def logs(run_id: str) -> None:
    """Print what a session did and said so far."""
    run = _find(run_id)
    click.echo(transcript_text(_transcript(run)))
    if errors := _runs().errors(run).strip():
        click.echo(sanitize(errors), err=True)


@command.command()
@_id
def stop(run_id: str) -> None:
    """End a session; its work is kept, and you can resume it."""
    run = _find(run_id)
    if _runs().stop(run):
        click.echo(f"stopping {run.id}; resume it with: agent-tui -r {run.session_id}")
    else:
        click.echo(f"{run.id} has already ended ({_runs().state(run)})")


@command.command()
@_id
def attach(run_id: str) -> None:
    """Follow a session until it ends; Ctrl+C detaches.

    What you type is sent to it as a message, or answers the question that it waits with.
    """
    run = _find(run_id)
    AttachedSession(_runs(), run, _transcript(run)).follow()


def _runs() -> BackgroundRuns:
    return BackgroundRuns(current_directories().agent_home)


def _find(run_id: str) -> BackgroundRun:
    try:
        return _runs().find(run_id)
    except AgentError as error:
        raise click.ClickException(str(error)) from error


def _transcript(run: BackgroundRun) -> Path:
    project = find_project_root(Path(run.cwd))
    return (
        SessionStore(current_directories().agent_home).directory(project)
        / f"{run.session_id}.jsonl"
    )
