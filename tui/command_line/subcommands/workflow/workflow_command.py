"""`agent-tui workflow`: lists a project's runs, and requests pauses and stops of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import click

from agent.orchestration.journal.journal_records import (
    OwnerRequest,
    RunRecord,
    StepRecord,
    WorkflowState,
)
from agent.orchestration.script.script_meta import ScriptError
from agent.orchestration.workflow_files import workflow_file
from permissions.base.text.count_text import count_text
from permissions.base.text.sanitize import sanitize
from tui.command_line.subcommands.whole_texts import WholeTexts
from tui.command_line.subcommands.workflow.journal_here import (
    completed_run,
    found_run,
    is_owned,
    journal,
    state_of,
    with_json,
)
from tui.command_line.subcommands.workflow.keep_commands import collect, save
from tui.command_line.subcommands.workflow.queue_worker_command import queue_worker
from tui.command_line.subcommands.workflow.run_commands import resume, run

NEWEST = 50


@click.group("workflow", cls=WholeTexts, short_help="Run workflows, and list, show and stop runs.")
def command() -> None:
    """Run workflows; list, show, pause, resume, stop and save the runs of this project."""


@command.command("list")
@with_json
@click.option("--all", "shows_all", is_flag=True, help="Include finished runs.")
def list_runs(as_json: bool, shows_all: bool) -> int:
    """List runs, the newest first."""
    with journal() as store:
        runs = [run for run in store.runs.newest(NEWEST) if shows_all or not run.state.is_over]
    if as_json:
        click.echo(json.dumps([_run_json(run) for run in runs], ensure_ascii=False))
    elif not runs:
        click.echo("No runs." if shows_all else "No open runs. --all includes finished ones.")
    else:
        for run in runs:
            click.echo(_run_line(run))
    return 0


@command.command("show")
@with_json
@click.argument("run_id", metavar="RUN")
def show(as_json: bool, run_id: str) -> int:
    """Show a run with its agents and its result."""
    with journal() as store:
        run = found_run(store, run_id)
        steps = store.steps.of_run(run_id)
        usage = store.steps.usage(run=run_id)
    if as_json:
        whole = {
            **_run_json(run),
            "result": run.result,
            "tokens": usage.tokens,
            "costUsd": usage.cost_usd if usage.is_cost_known else None,
            "agents": [_step_json(step) for step in steps],
        }
        click.echo(json.dumps(whole, ensure_ascii=False))
        return 0
    click.echo(_run_line(run))
    cost = f"${usage.cost_usd:.2f}" if usage.is_cost_known else "cost unknown"
    click.echo(f"  {count_text(usage.agents, 'agent')} started, {usage.tokens:,} tokens, {cost}")
    for step in steps:
        name = step.label or step.prompt.partition("\n")[0][:60]
        click.echo(f"  {step.state:8} {step.phase:12} {sanitize(name)}")
    if run.result:
        click.echo(f"\n{sanitize(run.result)}")
    return 0


def _request_sender(request: OwnerRequest) -> Callable[[str, bool], int]:
    def send(run_id: str, as_json: bool) -> int:
        with journal() as store:
            run = found_run(store, run_id)
            if not is_owned(run):
                raise click.ClickException(
                    completed_run(run_id)
                    if run.state is WorkflowState.COMPLETED
                    else f"The run {run_id} is {state_of(run)}: no process works on it. To "
                    f"continue it: agent-tui workflow resume {run_id}"
                )
            store.runs.request(run_id, request)
        click.echo(
            json.dumps({"run": run_id, "wish": request}) if as_json else f"{request}: {run_id}"
        )
        return 0

    return send


for _request, _help in (
    (OwnerRequest.PAUSE, "Pause a run: working agents finish, no others start."),
    (OwnerRequest.STOP, "Stop a run; finished results stay recorded."),
):
    command.command(str(_request), help=_help)(
        with_json(click.argument("run_id", metavar="RUN")(_request_sender(_request)))
    )


for _one in (run, resume, save, collect, queue_worker):
    command.add_command(_one)


@command.command("check")
@with_json
@click.argument("file", type=click.Path(path_type=Path))
def check(as_json: bool, file: Path) -> int:
    """Check the head of a script without running it."""
    try:
        meta = workflow_file(file).meta
    except ScriptError as error:
        if as_json:
            click.echo(json.dumps({"error": str(error)}, ensure_ascii=False))
            return 1
        raise click.ClickException(str(error)) from error
    phases = [phase.title for phase in meta.phases]
    if as_json:
        head = {"name": meta.name, "description": meta.description, "phases": phases}
        click.echo(json.dumps(head, ensure_ascii=False))
    else:
        click.echo(f"{meta.name}: {sanitize(meta.description)}")
        click.echo(f"phases: {', '.join(phases) or 'none'}")
    return 0


def _run_line(run: RunRecord) -> str:
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created_at))
    reason = f"  ({sanitize(run.reason)})" if run.reason else ""
    return f"{run.id}  {state_of(run)}  {began}  {count_text(run.agents, 'agent')}{reason}"


def _run_json(run: RunRecord) -> dict[str, object]:
    return {
        "id": run.id,
        "name": run.name,
        "kind": run.kind,
        "state": state_of(run),
        "reason": run.reason,
        "createdAt": run.created_at,
        "endedAt": run.ended_at,
        "agentsStarted": run.agents,
        "maxAgents": run.max_agents,
        "maxTokens": run.max_tokens,
        "budgetUsd": run.budget_usd,
        "session": run.session,
    }


def _step_json(step: StepRecord) -> dict[str, object]:
    result: object = None
    if step.result:
        try:
            result = json.loads(step.result)
        except ValueError:
            result = step.result
    return {
        "label": step.label,
        "phase": step.phase,
        "state": str(step.state),
        "attempts": step.attempts,
        "prompt": step.prompt,
        "result": result,
        "tokens": step.tokens,
        "costUsd": step.cost_usd,
        "transcript": step.transcript,
    }
