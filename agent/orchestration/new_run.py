"""Builds the record of a run from a call of the Workflow tool."""

from __future__ import annotations

import json
import time
import uuid
from typing import Final

import msgspec

from agent.orchestration.journal.journal_records import RunChange, RunRecord
from agent.orchestration.journal.run_owner import new_owner
from agent.orchestration.journal.step_key import script_hash
from agent.orchestration.run.fan_out import FanOutOptions
from agent.orchestration.script.script_meta import ScriptError, WorkflowScript, read_script
from agent.orchestration.subtasks import SUBTASKS, read_subtasks
from agent.orchestration.workflow_files import WorkflowPlaces, find_workflow, workflow_file
from agent.tools.base import ToolError
from agent.tools.workflow_port import WorkflowCall
from permissions.base.text.late_pattern import compile_late

_NOT_IN_IDS: Final = compile_late(r"[^A-Za-z0-9_.-]+")
"""Characters that are replaced in ids, as ids are part of commands that users copy."""


def script_of(call: WorkflowCall, places: WorkflowPlaces) -> WorkflowScript:
    """Return the script that a call names. Raises ToolError."""
    try:
        if call.script is not None:
            return read_script(call.script)
        if call.name is not None:
            return workflow_file(find_workflow(call.name, places))
        return workflow_file(places.cwd / (call.path or ""))
    except ScriptError as error:
        raise ToolError(f"The workflow cannot be started: {error}.") from error


def limits_of(call: WorkflowCall) -> RunChange:
    """Return the limits that a call sets."""
    return RunChange(call.max_agents, call.max_tokens, call.budget_usd)


def new_record(call: WorkflowCall, places: WorkflowPlaces, *, session: str, mode: str) -> RunRecord:
    """Return the record of a new run; its script is empty if no subtask is usable.

    Raises ToolError.
    """
    args = call.args
    if call.subtasks is not None:
        subtasks = read_subtasks(call.subtasks)
        name = kind = SUBTASKS
        text = json.dumps(subtasks.prompts) if subtasks.prompts else ""
        args = msgspec.to_builtins(FanOutOptions(subtasks.excess, call.verifies))
    else:
        script = script_of(call, places)
        name, kind, text = script.meta.name, "script", script.text
    usual = RunRecord(id="", name="", kind="", script="")
    return RunRecord(
        id=f"{_NOT_IN_IDS.sub('-', name)[:40].strip('-') or 'run'}-{uuid.uuid4().hex[:8]}",
        name=name,
        kind=kind,
        script=text,
        script_hash=script_hash(text),
        path=str(places.cwd / call.path) if call.path else "",
        args=json.dumps(args),
        session=session,
        cwd=str(places.cwd),
        mode=mode,
        owner=new_owner(),
        created_at=time.time(),
        max_agents=call.max_agents or usual.max_agents,
        max_tokens=call.max_tokens,
        budget_usd=call.budget_usd,
    )
