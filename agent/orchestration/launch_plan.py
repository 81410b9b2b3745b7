"""The plan and limits of a workflow, shown to the user for a decision before it starts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.display import WorkflowDisplay
from agent.orchestration.journal.journal import Journal
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import Caps, RunRecord
from agent.orchestration.journal.journal_store import JournalStore
from agent.orchestration.script.script_meta import WorkflowPhase, read_script

EARLIER_RUNS: Final = 20
"""Number of newest runs of a name from which its cost is estimated."""


class _Earlier(Struct, frozen=True):
    """Statistics of earlier runs of the same name, and the session's usage."""

    session_agents: int = 0
    runs: int = 0
    agents: int = 0
    usd: float | None = None
    last_script: str | None = None


async def launch_plan(
    run: RunRecord, journal: Journal, caps: Caps, *, verifies: bool, resumes: str
) -> WorkflowDisplay:
    """Return the plan of a run that is not recorded yet.

    If the journal cannot be read, earlier runs are ignored. Raises ScriptError.
    """
    try:
        earlier = await journal.ask(lambda store: _earlier_use(store, run))
    except JournalError:
        earlier = _Earlier()
    plan = WorkflowDisplay(
        name=run.name,
        most_agents=run.max_agents,
        at_once=caps.concurrent,
        agents_left=max(0, caps.session_agents - earlier.session_agents),
        budget_usd=run.budget_usd,
        earlier_runs=earlier.runs,
        earlier_agents=earlier.agents,
        earlier_usd=earlier.usd,
        mode=run.mode,
        resumes=resumes,
    )
    if run.kind == "subtasks":
        prompts = tuple(json.loads(run.script or "[]"))
        most = min(run.max_agents, len(prompts) * (2 if verifies else 1))
        return replace(plan, subtasks=prompts, most_agents=most)
    meta = read_script(run.script).meta
    return replace(
        plan,
        description=meta.description,
        phases=tuple(map(_phase, meta.phases)),
        path=_relative(run.path, run.cwd) if run.path else "",
        script=run.script,
        last_script=earlier.last_script,
    )


def _earlier_use(store: JournalStore, run: RunRecord) -> _Earlier:
    agents_used = store.steps.usage(session=run.session).agents if run.session else 0
    runs = store.runs.newest(EARLIER_RUNS, name=run.name)
    if not runs:
        return _Earlier(agents_used)
    usages = [store.steps.usage(run=one.id) for one in runs]
    is_known = all(one.is_cost_known for one in usages)
    return _Earlier(
        agents_used,
        len(runs),
        sum(one.agents for one in usages),
        sum(one.cost_usd for one in usages) if is_known else None,
        runs[0].script,
    )


def _phase(phase: WorkflowPhase) -> str:
    return f"{phase.title}: {phase.detail}" if phase.detail else phase.title


def _relative(path: str, cwd: str) -> str:
    relative = os.path.relpath(path, cwd)
    return path if relative.startswith("..") else str(Path(relative))
