"""The entry point: starts the screen, or reads the command line for everything else.

Imports neither Textual nor a model SDK before they are needed: `--version`, `--help`
and the permission and hook checks that scripts call many times must start quickly. This module
imports almost nothing itself, so that `main` handles a Ctrl+C during the first imports.
Next: `tui.command_line.command_line` (options), `tui.startup.start` (what a run does),
`tui.command_line.subcommands`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status; never raises for bad usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from tui.command_line.standard_streams import (
            finish,
            handle_closed_pipe,
            handle_write_error,
            prepare,
        )

        prepare()
        _restore_sigchld()
        _make_home_absolute()
        try:
            status = finish(_start(arguments) if _is_plain(arguments) else _read(arguments))
        except BrokenPipeError:
            return handle_closed_pipe()
        except OSError as error:
            return handle_write_error(error)
        if (workers := sys.modules.get("permissions.base.process.worker_threads")) is not None:
            # Only a run of the agent has such threads. All output is written by now.
            workers.leave_stuck_threads(status)
        return status
    except KeyboardInterrupt:
        return 130


def _restore_sigchld() -> None:
    """Reset an inherited "ignore" for SIGCHLD: with it every command would seem to fail."""
    import signal  # here, so that `main` also catches a Ctrl+C during this import

    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _make_home_absolute() -> None:
    """Make `AGENT_TUI_HOME` absolute (a leading `~` is expanded), so that it names the same
    directory in child processes that run elsewhere."""
    text = os.environ.pop("AGENT_TUI_HOME", "").strip()
    if text:
        home = os.path.expanduser(text)
        try:
            os.environ["AGENT_TUI_HOME"] = os.path.abspath(home)
        except OSError:  # the current directory no longer exists; reported when it is needed
            os.environ["AGENT_TUI_HOME"] = home


def _is_plain(arguments: Sequence[str]) -> bool:
    """Return whether there are no arguments except, perhaps, a prompt or `--continue`."""
    from tui.command_line import SUBCOMMANDS

    match arguments:
        case [] | ["-c" | "--continue"]:
            return True
        case [prompt]:
            if not prompt or prompt.startswith("-") or prompt in SUBCOMMANDS:
                return False
            from tui.command_line.foreign_options import is_word  # not needed without a prompt

            return " " in prompt or not is_word(prompt)
        case _:
            return False


def _start(arguments: Sequence[str]) -> int:
    # Before any slow import.
    from tui.startup.early_prompt_policy import early_prompt

    prompt = next((argument for argument in arguments if not argument.startswith("-")), None)
    with early_prompt(os.environ) as early:
        # Imported only now: help and version need none of these modules.
        from agent.options import RunOptions
        from tui.startup.start import start

        continues = bool(arguments) and prompt is None
        return start(RunOptions(prompt=prompt, continue_latest=continues), early)


def _read(arguments: list[str]) -> int:
    # Most starts have no options and do not import click before the prompt is shown.
    import click

    from tui.command_line import SUBCOMMANDS, WORKER

    try:
        if arguments[0] in (*SUBCOMMANDS, WORKER):
            # Subcommands import large parts of the agent, which a plain start does not need.
            from tui.command_line.standard_streams import write_text_only
            from tui.command_line.subcommands import commands

            if arguments[0] != WORKER:
                write_text_only()
            command: click.Command = commands()
        else:
            from tui.command_line.command_line import run as command
        streams = sys.stdout, sys.stderr
        result = command.main(arguments, prog_name="agent-tui", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        from tui.command_line.usage_failure import report_usage  # only after an error

        return report_usage(arguments, error)
    except click.Abort:
        return 130
    except SystemExit:
        # Click exits like this when a pipe has no reader, and replaces the standard streams.
        sys.stdout, sys.stderr = streams
        raise BrokenPipeError from None
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
