"""BashOutput: what a background command printed since the last call."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.display import CommandDisplay
from agent.sandbox.confined_launch import SandboxRun
from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.search.rg import matching_lines
from agent.tools.services import ToolServices
from agent.tools.shell.refused_note import refused_note
from agent.tools.shell.shell_process import ShellProcess

DESCRIPTION: Final = """Returns what a background command printed since the last call, and \
whether it still runs.

`bash_id` is the id that Bash gave when the command went to the background. With `filter`, only \
lines matching this regular expression are returned; the others count as read too. At most the \
last 15,000 characters come back; the whole output is in the file that is named.

Use it to follow servers and long jobs. Do not call it again and again without doing something \
else: a command that ends by itself is reported."""


class BashOutputInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of BashOutput."""

    bash_id: Annotated[str, Meta(description="Id of the background command.")]
    filter: Annotated[
        str | None,
        Meta(max_length=1_000, description="Return only lines that match this expression."),
    ] = None


async def _validate(tool_input: BashOutputInput, context: ToolContext) -> str | None:
    try:
        find_shell(tool_input.bash_id, context.services)
        if tool_input.filter is not None:
            # Reject a malformed expression before any output counts as read.
            await matching_lines(tool_input.filter, "", context.services.reading)
    except ToolError as error:
        return str(error)
    return None


def find_shell(shell_id: str, services: ToolServices) -> ShellProcess:
    """Return a background command by its id. Raises ToolError, which lists the known ids."""
    shell = services.shells.get(shell_id)
    if shell is None:
        ids = ", ".join(shell.id for shell in services.shells.all()) or "none"
        raise ToolError(f"There is no background command {shell_id!r}.", f"Known ids: {ids}.")
    return shell


def status_of(shell: ShellProcess) -> str:
    """Return one word for hooks: `running`, `completed`, `failed` or `killed`."""
    if shell.is_running:
        return "running"
    if shell.was_stopped:
        return "killed"
    return "completed" if shell.exit_code == 0 else "failed"


async def _run(tool_input: BashOutputInput, context: ToolContext) -> ToolOutcome:
    shell = find_shell(tool_input.bash_id, context.services)
    is_running = shell.is_running
    shell.read_available()
    new, skip_count = shell.output.take_new()
    if tool_input.filter is not None:
        new = await matching_lines(tool_input.filter, new, context.services.reading)
    parts = []
    if skip_count:
        parts.append(f"[… {skip_count:,} characters before this are in {shell.output.path} …]")
    if new.strip("\n"):
        parts.append(new.rstrip("\n"))
    else:
        parts.append("(no new output)")
    parts.append(f"[{_state(shell, is_running)} All output: {shell.output.path}]")
    if not is_running and isinstance(shell.confined_run, SandboxRun):
        refusals = shell.confined_run.refusals(shell.output.text(), has_failed=shell.exit_code != 0)
        if refusals:
            parts.append(refused_note(shell.confined_run.policy.confinement, refusals))
    return ToolOutcome(
        "\n".join(parts),
        display=CommandDisplay(shell.command, new, shell.exit_code, background_id=shell.id),
        tool_response={
            "shellId": shell.id,
            "command": shell.command,
            "status": status_of(shell),
            "exitCode": shell.exit_code,
            "stdout": new,
            "stderr": "",
        },
    )


def _state(shell: ShellProcess, is_running: bool) -> str:
    if is_running and shell.exit_code is not None:
        return (
            f"{shell.id}: the shell has ended with {shell.exit_code}, "
            "processes it started are still running."
        )
    if is_running:
        return f"{shell.id}: running for {shell.elapsed_s:.0f} s."
    if shell.was_stopped:
        return f"{shell.id}: stopped after {shell.elapsed_s:.0f} s."
    return f"{shell.id}: ended with exit code {shell.exit_code} after {shell.elapsed_s:.0f} s."


def bash_output_tool() -> Tool[BashOutputInput]:
    """Return the tool."""
    return build_tool(
        name="BashOutput",
        description=DESCRIPTION,
        input_model=BashOutputInput,
        run=_run,
        validate=_validate,
        # It moves the reading position, so two calls for one command must not overlap.
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        identifier=lambda tool_input, _: f"BashOutput {tool_input.bash_id}",
        max_result_size_chars=30_000,
    )
