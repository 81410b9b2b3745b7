"""TaskStop: end a background command with everything it started, or an agent."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.builtin.bash_output import find_shell, status_of

DESCRIPTION: Final = """Ends a background command and everything it started (TERM, then KILL \
after 2 s), or an agent and those that it started.

`task_id` is the id that Bash or Agent gave. Use it for servers and jobs that are no longer \
needed. Do not use it for commands in the foreground: they end by \
themselves or at their timeout."""


class TaskStopInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of TaskStop; `shell_id` is the older name of `task_id`."""

    task_id: Annotated[str | None, Meta(description="Id of the command or agent.")] = None
    shell_id: Annotated[str | None, Meta(description="The same; use task_id.")] = None

    def __post_init__(self) -> None:
        if not (self.task_id or self.shell_id):
            raise ValueError("task_id is missing")

    @property
    def id(self) -> str:
        """The id under either name."""
        return self.task_id or self.shell_id or ""


async def _validate(tool_input: TaskStopInput, context: ToolContext) -> str | None:
    if _is_agent(tool_input.id, context):
        return None
    try:
        find_shell(tool_input.id, context.services)
    except ToolError as error:
        return str(error)
    return None


def _is_agent(task_id: str, context: ToolContext) -> bool:
    port = context.services.subagents
    return port is not None and port.has(task_id)


async def _run(tool_input: TaskStopInput, context: ToolContext) -> ToolOutcome:
    port = context.services.subagents
    if port is not None and port.has(tool_input.id):
        text = await port.stop(tool_input.id)
        return ToolOutcome(text, tool_response={"message": text, "task_id": tool_input.id})
    shell = find_shell(tool_input.id, context.services)
    if shell.is_running:
        await shell.stop()
        message = f"Ended {shell.id}. Its output stays in {shell.output.path}."
    else:
        message = f"{shell.id} had already ended ({status_of(shell)})."
    return ToolOutcome(
        message,
        tool_response={"message": message, "task_id": shell.id, "command": shell.command},
    )


def task_stop_tool() -> Tool[TaskStopInput]:
    """Return the tool."""
    return build_tool(
        name="TaskStop",
        description=DESCRIPTION,
        input_model=TaskStopInput,
        run=_run,
        validate=_validate,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        requires_permission=False,
        aliases=("KillShell",),
        identifier=lambda tool_input, _: f"TaskStop {tool_input.id}",
        max_result_size_chars=10_000,
    )
