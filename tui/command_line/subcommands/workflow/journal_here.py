"""The journal of the current project."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from agent.assembly.agents.journal_place import journal_place, open_journal
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import RunRecord, WorkflowState
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.journal.run_owner import is_gone
from tui.command_line.subcommands.places import current_directories, settings_here

LOST = "lost"
"""The state of a run whose process has ended without recording that."""


def with_json(function: Callable[..., int]) -> Callable[..., int]:
    """Add the option `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


@contextmanager
def journal() -> Iterator[JournalStore]:
    """Open the journal; an error ends the command."""
    settings = settings_here(current_directories())
    where = journal_place(os.environ, settings.agent_home, settings.project_root)
    try:
        store = open_journal(where)
        try:
            yield store
        finally:
            store.close()
    except JournalError as error:
        raise click.ClickException(f"The journal of workflows: {error}") from error


def found_run(store: JournalStore, run_id: str) -> RunRecord:
    """Return a run. Raises click.ClickException for an unknown id."""
    run = store.runs.get(run_id)
    if run is None:
        newest_ids = ", ".join(one.id for one in store.runs.newest(5)) or "none"
        raise click.ClickException(f"There is no run {run_id}. The newest: {newest_ids}.")
    return run


def state_of(run: RunRecord) -> str:
    """Return the state of a run; `lost` if its process has ended."""
    is_open = run.state in (WorkflowState.RUNNING, WorkflowState.PAUSED)
    return LOST if is_open and run.owner and not is_owned(run) else run.state


def completed_run(run_id: str) -> str:
    """Return the message that a run is completed and cannot be paused, stopped or continued."""
    return f"The run {run_id} is completed. Its result: agent-tui workflow show {run_id}"


def is_owned(run: RunRecord) -> bool:
    """Whether a running process works on a run."""
    has_owner = bool(run.owner) and not run.state.is_over
    return has_owner and run.lease_until >= time.time() and not is_gone(run.owner)
