"""The tasks of a team, with owners and dependencies.

All members read and change the list; each change is made under a lock and replaces the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent.teams.team_message import TeamError
from permissions.base.files.private_file import exclusive, write_private
from permissions.base.text.failure_text import error_reason

TaskStatus = Literal["pending", "in_progress", "completed", "deleted"]
MAX_TASKS: Final = 500
T = TypeVar("T")


class TeamTask(Struct, frozen=True, kw_only=True):
    """One task."""

    id: str
    subject: str
    description: str = ""
    status: TaskStatus = "pending"
    owner: str | None = None
    """The member that claimed it."""
    blocked_by: tuple[str, ...] = ()
    """Ids of tasks that have to be completed first."""


Tasks = tuple[TeamTask, ...]


class TaskList:
    """The task list in one file."""

    def __init__(self, path: Path) -> None:
        """The file need not exist yet."""
        self._path = path

    def all(self) -> Tasks:
        """Return all tasks except deleted ones, in the order of creation. Raises TeamError."""
        return tuple(task for task in self._read() if task.status != "deleted")

    def get(self, task_id: str) -> TeamTask:
        """Return one task. Raises TeamError if it does not exist."""
        return _find(self.all(), task_id)

    def create(self, subject: str, description: str, blocked_by: tuple[str, ...]) -> TeamTask:
        """Add a task. Raises TeamError."""

        def change(tasks: Tasks) -> tuple[Tasks, TeamTask]:
            if len(tasks) >= MAX_TASKS:
                raise TeamError(f"A team has at most {MAX_TASKS} tasks.")
            for one in blocked_by:
                _find(tasks, one)
            task = TeamTask(
                id=str(len(tasks) + 1),
                subject=subject,
                description=description,
                blocked_by=blocked_by,
            )
            return (*tasks, task), task

        return self._change(change)

    def remove(self, task_id: str) -> None:
        """Mark a task as deleted. Raises TeamError."""
        self._change(lambda tasks: _replace(tasks, _find(tasks, task_id), status="deleted"))

    def claim(self, task_id: str, owner: str) -> TeamTask:
        """Assign a task to the owner and return it.

        Raises:
            TeamError: another member owns it, it is done, or it waits for other tasks.
        """

        def change(tasks: Tasks) -> tuple[Tasks, TeamTask]:
            task = _find(tasks, task_id)
            if task.owner not in {None, owner}:
                raise TeamError(f"Task {task_id} is {task.owner}'s.")
            if task.status in {"completed", "deleted"}:
                raise TeamError(f"Task {task_id} is {task.status}.")
            if waits := _open_dependencies(tasks, task):
                raise TeamError(f"Task {task_id} waits for {', '.join(waits)}.")
            return _replace(tasks, task, status="in_progress", owner=owner)

        return self._change(change)

    def complete(self, task_id: str, owner: str | None) -> TeamTask:
        """Mark a task as completed and return it. Raises TeamError if another member owns it."""

        def change(tasks: Tasks) -> tuple[Tasks, TeamTask]:
            task = _find(tasks, task_id)
            if owner is not None and task.owner not in {None, owner}:
                raise TeamError(f"Task {task_id} is {task.owner}'s.")
            if waits := _open_dependencies(tasks, task):
                raise TeamError(f"Task {task_id} waits for {', '.join(waits)}.")
            return _replace(tasks, task, status="completed")

        return self._change(change)

    def release(self, owner: str) -> None:
        """Release a member's open tasks, so that others can claim them. Raises TeamError."""

        def change(tasks: Tasks) -> tuple[Tasks, None]:
            return tuple(
                replace(task, status="pending", owner=None)
                if task.owner == owner and task.status == "in_progress"
                else task
                for task in tasks
            ), None

        self._change(change)

    def _change(self, change: Callable[[Tasks], tuple[Tasks, T]]) -> T:
        try:
            with exclusive(self._path):
                tasks, result = change(self._read())
                write_private(self._path, msgspec.json.encode(tasks))
        except OSError as error:
            raise TeamError(
                f"The task list {self._path} cannot be written: {error.strerror}."
            ) from error
        return result

    def _read(self) -> Tasks:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Tasks)
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise TeamError(
                f"The task list {self._path} cannot be read: "
                f"{error_reason(error, names_file=False)}."
            ) from error


def task_line(task: TeamTask) -> str:
    """Return a task in one line."""
    owner = f", {task.owner}" if task.owner else ""
    waits = f", after {', '.join(task.blocked_by)}" if task.blocked_by else ""
    return f"{task.id}. [{task.status}{owner}{waits}] {task.subject}"


def _find(tasks: Tasks, task_id: str) -> TeamTask:
    for task in tasks:
        if task.id == task_id:
            return task
    task_ids = ", ".join(task.id for task in tasks) or "none"
    raise TeamError(f"There is no task {task_id}; there are: {task_ids}.")


def _open_dependencies(tasks: Tasks, task: TeamTask) -> list[str]:
    closed_ids = {one.id for one in tasks if one.status in {"completed", "deleted"}}
    return [one for one in task.blocked_by if one not in closed_ids]


def _replace(
    tasks: Tasks, task: TeamTask, *, status: TaskStatus, owner: str | None = None
) -> tuple[Tasks, TeamTask]:
    new_task = replace(task, status=status, owner=owner or task.owner)
    return tuple(new_task if one.id == task.id else one for one in tasks), new_task
