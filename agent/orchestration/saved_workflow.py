"""Saves a run as a workflow: a file of the project that can be run by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from agent.errors import AgentError
from agent.orchestration.journal.journal_records import RunRecord
from agent.orchestration.subtasks import SUBTASKS
from permissions.base.text.late_pattern import compile_late

NAME: Final = compile_late(r"[A-Za-z0-9][\w-]{0,63}")


def save_workflow(run: RunRecord, name: str, project: Path) -> Path:
    """Write a run's workflow below `.agent/workflows` of the project; return the file.

    Raises:
        AgentError: the name is invalid or taken, or the file cannot be written.
    """
    if NAME.fullmatch(name) is None:
        raise AgentError(f"{name!r} cannot be the name of a workflow: letters, digits, - and _.")
    directory = project / ".agent" / "workflows"
    for each in (directory.parent, directory):
        if each.is_symlink():
            raise AgentError(f"{each} is a symbolic link: nothing is written there.")
    path = directory / f"{name}.js"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_text(run, name))
    except FileExistsError as error:
        raise AgentError(f"There is a workflow {name} already: {path}.") from error
    except OSError as error:
        raise AgentError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def _text(run: RunRecord, name: str) -> str:
    if run.kind != SUBTASKS:
        return run.script
    tasks = json.dumps(json.loads(run.script or "[]"), ensure_ascii=False, indent=2)
    return (
        f"export const meta = {{\n  name: {json.dumps(name)},\n"
        "  description: 'Runs subtasks and has each result refuted',\n}\n"
        f"const tasks = {tasks}\n"
        "const found = await parallel(tasks.map(task => () => agent(task, { findings: true })))\n"
        "return await verify(tasks, found)\n"
    )
