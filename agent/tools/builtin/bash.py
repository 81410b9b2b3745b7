"""Bash: run one command in a fresh shell; only the current directory carries over."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from agent.display import CommandDisplay, Display
from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.refusals import Refusal
from agent.sandbox.sandbox import RunRequest
from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)
from agent.tools.interruption import interruption_cause
from agent.tools.services import ToolServices
from agent.tools.shell.exit_text import meaning_of, status_text
from agent.tools.shell.hook_variables import without_foreign_code
from agent.tools.shell.reading_environment import reading_environment
from agent.tools.shell.refused_note import for_the_user, refused_note
from agent.tools.shell.refused_tags import without_tags
from agent.tools.shell.shell_process import (
    ConfineCommand,
    ShellError,
    ShellProcess,
    command_environment,
    find_bash,
)
from agent.tools.shell.shell_wait import stop_and_wait, wait_for_shell
from agent.tools.shell.unseen_server import unseen_server
from agent.typed_json.read_record import as_values
from agent.typed_json.record_schema import record_schema
from permissions.base.process.spawn import CannotStart
from permissions.base.text.late_pattern import compile_late
from permissions.confinement import Confinement, can_hold
from permissions.request import PermissionRequest

DEFAULT_TIMEOUT_MS: Final = 120_000
MAX_TIMEOUT_MS: Final = 600_000

_WRITING: Final = (Confinement.PROJECT, Confinement.PROJECT_FILES)
_BLANKS: Final = compile_late(r"[ \t]{8,}")

_ALLOWED: Final = "[The user allowed what the sandbox refused; it was run again, inside it.]"
_ALLOWED_OUTSIDE: Final = "[The user let it run once more, outside the sandbox.]"

DESCRIPTION: Final = f"""Runs a command in bash and returns what it printed (standard output and \
error in the order they were written) and its exit status.

Each call is a fresh shell: variables, aliases and functions do not carry over, but the current \
directory does (as long as it stays inside the working directories). Nobody can type into the \
command: no editors, pagers, password prompts or interactive programs.

Use it for version control, builds, tests, package managers and other programs. Do not use it to \
read, search, list or edit files: Read, Grep, Glob, Edit and Write do that with better results.

- Quote paths that contain spaces. Prefer absolute paths to `cd`.
- `timeout` is in milliseconds: {DEFAULT_TIMEOUT_MS:,} by default, at most {MAX_TIMEOUT_MS:,}. A \
command that takes longer is ended, and its output so far is returned, or it continues in the \
background, as the result says.
- Output over 30,000 characters is cut in the middle; all of it is then in a file whose path is \
given.
- `run_in_background` returns at once with an id, for servers and long jobs: read its output with \
BashOutput, end it with TaskStop. Do not add `&` yourself.
- $TMPDIR is a scratch folder of this session; use it instead of /tmp.
- Join dependent commands with `&&`. Independent commands are better made as separate calls in \
one turn."""


class BashInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of Bash."""

    command: Annotated[str, Meta(min_length=1, description="The command to run.")]
    timeout: Annotated[
        int | None,
        Meta(
            ge=1,
            le=MAX_TIMEOUT_MS,
            description=f"Milliseconds until it is ended; {DEFAULT_TIMEOUT_MS} if not given.",
        ),
    ] = None
    description: Annotated[
        str | None,
        Meta(description="What the command does, in five to ten words, for the user to read."),
    ] = None
    run_in_background: Annotated[
        bool, Meta(description="Return at once and let the command run on.")
    ] = False
    dangerouslyDisableSandbox: Annotated[
        bool,
        Meta(
            description="Run outside the sandbox; the user is asked first. Only after the sandbox "
            "refused what the command needs, or for a server that the user's own programs must "
            "reach. Not for anything else.",
        ),
    ] = False


async def _validate(tool_input: BashInput, context: ToolContext) -> str | None:
    if not tool_input.command.strip():
        return "The command is empty."
    if "\0" in tool_input.command:
        return "The command contains a NUL character."
    return None


async def _run(tool_input: BashInput, context: ToolContext) -> ToolOutcome:
    """Run the command, and again if the user allows what the sandbox refused."""
    note = ""
    while True:
        outcome = await _run_once(tool_input, context)
        if note and isinstance(outcome.content, str):
            outcome = replace(outcome, content=f"{note}\n{outcome.content}")
        confinement = await _offer_rerun(tool_input, context, outcome.refusals)
        if confinement is None:
            return outcome
        note = _ALLOWED_OUTSIDE if confinement is Confinement.NONE else _ALLOWED
        context = replace(context, confinement=confinement)


async def _offer_rerun(
    tool_input: BashInput, context: ToolContext, refusals: Sequence[Refusal]
) -> Confinement | None:
    """Return the confinement for another run, as the user decides; None for no other run."""
    services = context.services
    if not refusals or services.refusals is None:
        return None
    request = PermissionRequest(
        "Bash",
        {name: value for name, value in as_values(tool_input).items() if value},
        tool_use_id=context.tool_use_id,
    )
    try:
        return await services.refusals.offer(request, context.confinement, refusals, services.cwd)
    except asyncio.CancelledError:
        if not context.abort.aborted:
            raise
        # The command did run, so its output is returned although the question was aborted.
        return None


async def _run_once(tool_input: BashInput, context: ToolContext) -> ToolOutcome:
    # Imported with the first command, because the command parser takes long to import.
    from agent.tools.shell.masked_reads import masked_reads
    from agent.tools.shell.own_view import own_view
    from agent.tools.shell.protected_checkout import protected_changes

    services = context.services
    note = _reset_missing_cwd(services) + _ignored_flag_note(tool_input, context)
    cwd = services.cwd
    if context.confinement in _WRITING and services.sandbox is not None:
        stops = await protected_changes(tool_input.command, cwd, services.home, services.reading)
        if stops and can_hold(services.sandbox.level, context.confinement):
            return _not_run_outcome(tool_input, stops, services)
    shell = await _start(tool_input, context)
    shell.is_for_agent = context.agent_id is not None
    if shell.problem:
        note += f"\n[{shell.problem}]"
    if tool_input.run_in_background:
        services.shells.to_background(shell)
        return _in_background(shell, f"Running in the background as {shell.id}.", services)
    timeout_s = (tool_input.timeout or DEFAULT_TIMEOUT_MS) / 1000
    if services.limits is not None:
        timeout_s = min(timeout_s, services.limits.command_s)
    try:
        why = await wait_for_shell(
            shell, context.abort, timeout_s, may_continue=services.background_on_timeout
        )
    except asyncio.CancelledError:
        await stop_and_wait(shell)
        services.shells.release(shell)
        if not context.abort.aborted:
            raise
        # Interrupted by the user: the output up to now is still returned.
        why = "interrupted"
    if why == "continues":
        services.shells.to_background(shell)
        summary = f"Not done after {timeout_s:g} s; it continues in the background as {shell.id}."
        return _in_background(shell, summary, services)
    if why == "background":
        services.shells.to_background(shell)
        summary = f"The user sent the command to the background as {shell.id}."
        return _in_background(shell, summary, services)
    if shell.is_running:
        services.shells.to_background(shell)
        note += (
            f"\n[Processes that the command started are still running, as {shell.id}. "
            "Read their output with BashOutput, end them with TaskStop.]"
        )
    else:
        services.shells.release(shell)
    if why == "ended":
        note += await _change_cwd(services, shell.final_cwd)
    cause = interruption_cause(context.abort)
    run = shell.confined_run
    if not isinstance(run, SandboxRun):
        return _outcome(tool_input.command, shell, why, timeout_s, note, cause, "")
    note += own_view(run.policy, tool_input.command, cwd, services.home)
    masked_refusals = masked_reads(run.policy, tool_input.command, cwd, services.home)
    output = shell.output.text()
    output_refusals = run.refusals(output, has_failed=shell.exit_code != 0)
    refusals = tuple(dict.fromkeys((*output_refusals, *masked_refusals)))
    if services.sandbox is not None:
        services.sandbox.refusal_log.add(shell.command, refusals)
    refusal_text = refused_note(context.confinement, refusals)
    outcome = _outcome(tool_input.command, shell, why, timeout_s, note, cause, refusal_text)
    if not refusals or why != "ended":
        return outcome
    is_refused = outcome.is_error or bool(masked_refusals or run.refusals(output, has_failed=False))
    return replace(outcome, refusals=for_the_user(run, refusals)) if is_refused else outcome


def _not_run_outcome(
    tool_input: BashInput, stops: tuple[Refusal, ...], services: ToolServices
) -> ToolOutcome:
    """Return the outcome of a command whose checkout the sandbox would have stopped halfway."""
    assert services.sandbox is not None
    services.sandbox.refusal_log.add(tool_input.command, stops)
    note = refused_note(Confinement.PROJECT_FILES, stops)
    return ToolOutcome(f"Not run.\n{note}", is_error=True, refusals=stops)


async def _start(tool_input: BashInput, context: ToolContext) -> ShellProcess:
    """Start the command. Raises ToolError."""
    services = context.services
    env = command_environment(services.env, cwd=services.cwd, scratch_dir=services.scratch_dir)
    if context.confinement is Confinement.READ_ONLY:
        env = await reading_environment(
            env,
            tool_input.command,
            cwd=services.cwd,
            programs=services.reading,
            is_trusted=services.is_trusted(),
        )
    env_files = list(services.env_files)
    try:
        if context.confinement is Confinement.NONE and services.sandbox is not None:
            env_files, env = await without_foreign_code(
                env_files, env, cwd=services.cwd, bash=find_bash(env), sandbox=services.sandbox
            )
        return await services.shells.start(
            tool_input.command,
            cwd=services.cwd,
            env=env,
            results_dir=services.results_dir,
            env_files=env_files,
            live=None if tool_input.run_in_background else context.progress,
            scratch_dir=services.scratch_dir,
            confine=_confine(tool_input.command, context),
        )
    except ShellError as error:
        raise ToolError(str(error)) from error
    except CannotStart as error:
        raise ToolError(f"The command was not run: {error}.") from error


def _confine(command: str, context: ToolContext) -> ConfineCommand | None:
    """Return what confines the command as its decision assumed; None without a sandbox."""
    sandbox = context.services.sandbox
    if sandbox is None:
        return None
    request = RunRequest(
        context.confinement,
        write_dirs=context.write_dirs,
        visible=tuple(map(str, context.services.env_files)),
        command=command,
    )
    call = NetworkCall(context.tool_use_id, command)
    return lambda program: sandbox.launch_call(program, request, call)


def _reset_missing_cwd(services: ToolServices) -> str:
    if os.path.isdir(services.cwd):
        return ""
    old_cwd, services.cwd = services.cwd, services.launch_dir
    return f"\n[{old_cwd} no longer exists; the command ran in {services.cwd}.]"


async def _change_cwd(services: ToolServices, cwd: Path | None) -> str:
    if cwd is not None and cwd != services.cwd and services.sandbox is not None:
        from agent.tools.shell.entered_repository import entered_program

        program = await asyncio.to_thread(
            entered_program,
            cwd,
            launch_dir=services.launch_dir,
            scratch_dir=services.scratch_dir,
            since_ns=services.sandbox.started_ns,
            programs=services.reading,
        )
        if program is not None:
            return (
                f"\n[The current directory is still {services.cwd}: the repository around {cwd} "
                f"was made in this session and has git run something ({program}), also in hooks of "
                "the user. Name the directory in each command instead.]"
            )
    if cwd is None or services.move_to(cwd):
        return ""
    return (
        f"\n[The current directory is still {services.cwd}: "
        f"{cwd} is outside the working directories.]"
    )


def _ignored_flag_note(tool_input: BashInput, context: ToolContext) -> str:
    if not tool_input.dangerouslyDisableSandbox or context.confinement is Confinement.NONE:
        return ""
    return "\n[dangerouslyDisableSandbox was ignored: settings keep commands in the sandbox.]"


def _in_background(shell: ShellProcess, summary: str, services: ToolServices) -> ToolOutcome:
    unseen = unseen_server(shell.confined_run, may_leave=services.may_leave_sandbox)
    return ToolOutcome(
        content=(
            f"{summary} Its output goes to {shell.output.path}; "
            "read what is new with BashOutput, end it with TaskStop."
            + ("" if unseen is None else f"\n{unseen.for_model}")
        ),
        display=CommandDisplay(
            shell.command, "" if unseen is None else unseen.for_user, background_id=shell.id
        ),
        tool_response={
            "stdout": "",
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "backgroundTaskId": shell.id,
        },
    )


def _outcome(
    command: str,
    shell: ShellProcess,
    why: str,
    timeout_s: float,
    note: str,
    cause: str,
    refusal_text: str,
) -> ToolOutcome:
    output = shell.output.text()
    meaning = meaning_of(command, shell.exit_code)
    match why:
        case "timeout":
            status = (
                f"Timed out after {timeout_s:g} s and was ended. "
                "For longer jobs raise `timeout` or use `run_in_background`."
            )
        case "interrupted":
            status = f"Interrupted after {shell.elapsed_s:.1f} s {cause}, and ended."
        case _:
            status = status_text(shell.exit_code, meaning)
    body = output.rstrip("\n")
    parts = [part for part in (body, status, refusal_text, note.strip("\n")) if part]
    tool_response: dict[str, object] = {
        # Both streams share one pipe to preserve the order of their output.
        "stdout": body,
        "stderr": "",
        "interrupted": why in ("interrupted", "timeout"),
        "isImage": False,
        "exitCode": shell.exit_code,
    }
    if meaning:
        tool_response["returnCodeInterpretation"] = meaning
    if shell.output.has_file:
        tool_response["persistedOutputPath"] = str(shell.output.path)
    has_failed = why != "ended" or (shell.exit_code != 0 and not meaning)
    return ToolOutcome(
        content="\n".join(parts) or "(no output)",
        is_error=has_failed,
        display=CommandDisplay(command, _append_refusals(output, refusal_text), shell.exit_code),
        tool_response=tool_response,
    )


def _append_refusals(output: str, refusal_text: str) -> str:
    return (
        f"{output.rstrip()}\n{without_tags(refusal_text)}".lstrip("\n") if refusal_text else output
    )


def _identifier(tool_input: BashInput, _root: Path) -> str:
    line = " ↵ ".join(tool_input.command.strip().splitlines())
    # Many blanks would push the rest of the command out of view.
    return f"Bash {_BLANKS.sub(' ⋯ ', line)}"


async def _preview(tool_input: BashInput, _context: ToolContext) -> Display:
    return CommandDisplay(tool_input.command)


def bash_tool(
    *, may_leave: bool = False, places: Callable[[], tuple[str, str]] = lambda: ("/", "/")
) -> Tool[BashInput]:
    """Return the tool.

    Args:
        may_leave: Whether the model may ask to run a command outside the sandbox.
        places: Returns the shell's directory and the user's home, both absolute.
    """

    def is_harmless(it: BashInput) -> bool:
        from agent.tools.shell.command_effect import only_reads  # imported with the first command

        return not it.run_in_background and only_reads(it.command, *places())

    schema = record_schema(BashInput)
    if not may_leave:
        del schema["properties"]["dangerouslyDisableSandbox"]
    return build_tool(
        name="Bash",
        description=DESCRIPTION,
        input_model=BashInput,
        input_schema=schema,
        run=_run,
        validate=_validate,
        concurrency=lambda it: Concurrency.READ_ONLY if is_harmless(it) else Concurrency.UNSAFE,
        is_read_only=is_harmless,
        is_destructive=lambda it: not is_harmless(it),
        interrupt_behavior=InterruptBehavior.CANCEL,
        always_load=True,
        # The output is bounded here, with its own file; the limit leaves room for the notes.
        max_result_size_chars=40_000,
        identifier=_identifier,
        preview=_preview,
    )
