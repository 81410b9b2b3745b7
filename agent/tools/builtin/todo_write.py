"""TodoWrite: the task list of the conversation, replaced as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from agent.display import TodoDisplay, TodoItem
from agent.tools.base import Concurrency, Tool, ToolContext, ToolOutcome, build_tool

MAX_TODOS: Final = 100

DESCRIPTION: Final = f"""Replaces the task list that the user sees.

Use it for work of three or more steps, or when the user gives several tasks: write the list \
first, set a task to `in_progress` when you begin it (exactly one at a time), to `completed` as \
soon as it is really done, and add what you discover. Do not use it for a single simple step or \
for questions. Send the whole list each time, at most {MAX_TODOS} tasks; an empty list clears it.

`content` says what to do ("Run the tests"), `activeForm` what is being done ("Running the \
tests")."""


class Todo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task."""

    content: Annotated[str, Meta(min_length=1, max_length=2_000, description="What to do.")]
    status: Literal["pending", "in_progress", "completed"]
    activeForm: Annotated[  # the name that models know
        str, Meta(max_length=2_000, description="The same, as it happens.")
    ] = ""


class TodoWriteInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of TodoWrite."""

    todos: Annotated[list[Todo], Meta(max_length=MAX_TODOS, description="The whole list.")]


async def _run(tool_input: TodoWriteInput, context: ToolContext) -> ToolOutcome:
    services = context.services
    old = services.todos
    services.todos = tuple(
        TodoItem(todo.content, todo.status, todo.activeForm) for todo in tool_input.todos
    )
    done_count = sum(item.status == "completed" for item in services.todos)
    doing = [item.content for item in services.todos if item.status == "in_progress"]
    parts = [f"The list now has {len(services.todos)} tasks, {done_count} completed."]
    if len(doing) > 1:
        parts.append("More than one is in progress; work on one at a time.")
    elif doing:
        parts.append(f"In progress: {doing[0]}")
    return ToolOutcome(
        " ".join(parts) if services.todos else "The list is empty now.",
        display=TodoDisplay(services.todos),
        tool_response={
            "oldTodos": [_as_json(item) for item in old],
            "newTodos": [_as_json(item) for item in services.todos],
        },
    )


def _as_json(item: TodoItem) -> dict[str, object]:
    return {"content": item.content, "status": item.status, "activeForm": item.active_form}


def _identifier(tool_input: TodoWriteInput, _root: Path) -> str:
    done_count = sum(todo.status == "completed" for todo in tool_input.todos)
    return f"TodoWrite {done_count}/{len(tool_input.todos)} done"


def todo_write_tool() -> Tool[TodoWriteInput]:
    """Return the tool."""
    return build_tool(
        name="TodoWrite",
        description=DESCRIPTION,
        input_model=TodoWriteInput,
        run=_run,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        # It changes nothing outside the conversation.
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        identifier=_identifier,
        max_result_size_chars=10_000,
    )
