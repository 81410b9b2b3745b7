"""`agent-tui workflow run` and `resume`: start or continue a run, here or in the background."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from agent.assembly.agents.journal_place import JOURNAL_VARIABLE
from agent.errors import AgentError
from agent.exit_status import EXIT_COMPLETED
from agent.options import RunOptions
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import (
    OwnerRequest,
    RunChange,
    RunRecord,
    WorkflowState,
)
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.new_run import new_record
from agent.orchestration.script.script_meta import ScriptError
from agent.orchestration.workflow_files import WorkflowPlaces, workflow_file
from agent.session.background_runs import BackgroundRuns
from agent.session.store import SessionStore
from agent.tools.base import ToolError
from agent.tools.workflow_port import WorkflowCall
from permissions.base.process.worker_threads import run_to_end
from permissions.base.text.strict_json import load_json
from tui.command_line.subcommands.places import current_directories, settings_here
from tui.command_line.subcommands.workflow.journal_here import (
    completed_run,
    found_run,
    is_owned,
    journal,
    with_json,
)

if TYPE_CHECKING:
    from tui.startup.workflow_session import Begin

QUEUE_HELP = "Let workers run the agents; the URL of a Postgres database."


def _limits(function: Callable[..., int]) -> Callable[..., int]:
    for option in (
        click.option("--max-agents", type=click.IntRange(1), help="Maximum number of agents."),
        click.option("--max-tokens", type=click.IntRange(1), help="Pause after this many tokens."),
        click.option(
            "--budget-usd",
            type=click.FloatRange(0, min_open=True),
            help="Pause when this many US dollars are spent.",
        ),
    ):
        function = option(function)
    return function


def postgres_url(_context: click.Context, _option: click.Parameter, url: str | None) -> str | None:
    """Return the URL of a Postgres database. Raises click.BadParameter for any other."""
    if url is not None and not url.startswith(("postgres://", "postgresql://")):
        raise click.BadParameter("not the URL of a Postgres database: postgres://…")
    return url


def use_journal_of(queue: str | None) -> None:
    """Use the queue's database as this process's journal, too: owner and workers share it."""
    if queue is not None:
        os.environ[JOURNAL_VARIABLE] = queue


def _session(function: Callable[..., int]) -> Callable[..., int]:
    for option in (
        click.option("--model", help="Model for the agents."),
        click.option("--permission-mode", help="Permission mode of the agents."),
        click.option(
            "--allow", multiple=True, metavar="RULE", help="Allow rule for the agents. Repeatable."
        ),
        click.option(
            "--deny", multiple=True, metavar="RULE", help="Deny rule for the agents. Repeatable."
        ),
        click.option("--trust", is_flag=True, help="Trust this folder for this run."),
        click.option(
            "--detach", is_flag=True, help="Run in the background and return immediately."
        ),
        click.option("--queue", metavar="URL", callback=postgres_url, help=QUEUE_HELP),
    ):
        function = option(function)
    return function


@click.command("run")
@with_json
@click.argument("workflow", metavar="NAME|FILE")
@click.option("--args", "args_text", metavar="JSON", help="Value of args in the script.")
@_limits
@_session
def run(
    as_json: bool,
    workflow: str,
    args_text: str | None,
    max_agents: int | None,
    max_tokens: int | None,
    budget_usd: float | None,
    detach: bool,
    **session: Any,
) -> int:
    """Run a saved workflow, or the script in a file, and print its result.

    Agents have no user to ask: what no rule and no mode allows is denied.
    """
    use_journal_of(session["queue"])
    is_file = workflow.endswith(".js") or "/" in workflow
    call = WorkflowCall(
        name=None if is_file else workflow,
        path=workflow if is_file else None,
        args=_json(args_text),
        max_agents=max_agents,
        max_tokens=max_tokens,
        budget_usd=budget_usd,
    )
    place = current_directories()
    settings = settings_here(place)
    places = WorkflowPlaces(place.home, settings.agent_home, settings.project_root, place.cwd)
    mode = session["permission_mode"] or ""
    try:
        record = new_record(call, places, session=str(uuid.uuid4()), mode=mode)
    except ToolError as error:
        raise click.ClickException(str(error)) from error
    if detach:
        # The background process finds the run in the journal and becomes its owner.
        record = replace(record, owner="")
        with journal() as store:
            store.runs.add(record)
        return _detach(record, session, as_json=as_json)
    return _work(record, lambda workflows: workflows.begin(record), session, as_json=as_json)


@click.command("resume")
@with_json
@click.argument("run_id", metavar="RUN")
@click.option("--script", type=click.Path(path_type=Path), help="An edited script to use instead.")
@_limits
@_session
def resume(
    as_json: bool,
    run_id: str,
    script: Path | None,
    max_agents: int | None,
    max_tokens: int | None,
    budget_usd: float | None,
    detach: bool,
    **session: Any,
) -> int:
    """Continue a run without repeating finished agents.

    A paused run continues in its own process; one whose process has ended, here.
    """
    use_journal_of(session["queue"])
    limits = RunChange(max_agents, max_tokens, budget_usd)
    with journal() as store:
        record = found_run(store, run_id)
        if is_owned(record):
            return _request_resume(store, record, limits, script, as_json=as_json)
        if record.state is WorkflowState.COMPLETED and script is None:
            raise click.ClickException(completed_run(run_id))
        if script is not None:
            try:
                text = workflow_file(script).text
            except ScriptError as error:
                raise click.ClickException(str(error)) from error
            store.runs.change(run_id, RunChange(script=text))
        if detach:
            store.runs.change(run_id, limits)
    session["permission_mode"] = session["permission_mode"] or record.mode or None
    if detach:
        return _detach(record, session, as_json=as_json)
    return _work(
        record, lambda workflows: workflows.resume(run_id, limits), session, as_json=as_json
    )


def _request_resume(
    store: JournalStore, record: RunRecord, limits: RunChange, script: Path | None, *, as_json: bool
) -> int:
    if script is not None:
        raise click.ClickException(f"The run {record.id} is under way: stop it to edit its script.")
    if not limits.is_empty:
        store.runs.change(record.id, limits)
    request = OwnerRequest.RESUME
    store.runs.request(record.id, request)
    text = json.dumps({"run": record.id, "wish": request}) if as_json else f"resume: {record.id}"
    click.echo(text)
    return EXIT_COMPLETED


def _work(record: RunRecord, begin: Begin, session: dict[str, Any], *, as_json: bool) -> int:
    # Imports most of the program, so only for a run.
    from tui.startup.workflow_session import run_workflow

    queue = session.pop("queue")
    options = RunOptions(
        headless=True, session_id=_free_session(record.session), name=record.name, **session
    )
    try:
        return run_to_end(
            run_workflow(options, current_directories().cwd, begin, as_json=as_json, queue=queue)
        )
    except JournalError as error:
        raise click.ClickException(f"The run cannot be resumed: {error}.") from error
    except AgentError as error:
        raise click.ClickException(str(error)) from error


def _detach(record: RunRecord, session: dict[str, Any], *, as_json: bool) -> int:
    words: list[str] = []
    for name, value in session.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        for one in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
            words += [option, one] if isinstance(one, str) else []
    argv = [sys.executable, "-P", "-m", "agent_tui", "workflow", "resume", record.id, "--json"]
    place = current_directories()
    try:
        background_run = BackgroundRuns(place.agent_home).start(
            [*argv, *words], os.environ, place.cwd, f"workflow {record.name}", record.session
        )
    except AgentError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"run": record.id, "background": background_run.id}))
    else:
        click.echo(f"{record.id}  runs in the background")
        click.echo(f"agent-tui workflow show {record.id}   shows it")
        click.echo(f"agent-tui workflow stop {record.id}   ends it")
    return EXIT_COMPLETED


def _free_session(session_id: str) -> str | None:
    """Return the id for the session of a run; None if a session has it already."""
    session_ids = {info.id for info in SessionStore(current_directories().agent_home).list()}
    return session_id if session_id and session_id not in session_ids else None


def _json(text: str | None) -> object:
    if text is None:
        return None
    try:
        value: object = load_json(text)
    except ValueError as error:
        raise click.BadParameter(f"--args is not JSON: {error}") from error
    return value
