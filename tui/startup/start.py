"""Starts the program for given options: with a screen, as lines, or without a terminal."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from agent.errors import AgentError, OutputError, UsageError
from agent.exit_status import EXIT_ERROR, EXIT_USAGE
from agent.options import RunOptions
from permissions.base.process.own_environment import hide_secrets
from permissions.base.process.worker_threads import run_to_end
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message
from tui.conversation.gc_pause import pause_collection
from tui.screen_reader.preference import wants_lines

if TYPE_CHECKING:
    from tui.input.early_prompt import EarlyPrompt

MAX_STDIN_BYTES: Final = 10_000_000
"""Maximum size of standard input as context; more raises a UsageError."""
SILENCE_S: Final = 3.0
"""After how long a message tells that the program waits for standard input."""


def start(options: RunOptions, early: EarlyPrompt | None = None) -> int:
    """Run the program for these options and return its exit status.

    `early` controls the terminal until the screen does; after an error it restores it.
    """
    try:
        return _start(options, early)
    except AgentError as error:
        _restore_terminal(early)
        _report_failure(options, error)
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_ERROR


def _restore_terminal(early: EarlyPrompt | None) -> None:
    if early is not None:
        early.restore_terminal()


def _start(options: RunOptions, early: EarlyPrompt | None) -> int:
    pause_collection()
    try:
        launch_dir = Path.cwd()
    except OSError:
        raise UsageError("The current folder no longer exists. Change to one that does.") from None
    if options.worktree is not None:
        from tui.startup.worktree_start import run_in_worktree  # rare

        return run_in_worktree(
            options, launch_dir, lambda inside, where: _run(inside, where, early)
        )
    return _run(options, launch_dir, early)


def _run(options: RunOptions, launch_dir: Path, early: EarlyPrompt | None) -> int:
    if options.headless:
        return _headless(options, launch_dir)
    if not sys.stdout.isatty() or not sys.stdin.isatty():
        return _without_terminal(options, launch_dir)
    if wants_lines(options, os.environ):
        # The line mode never loads the screen's library.
        from tui.screen_reader.session import run_in_lines

        return run_in_lines(options, launch_dir, os.environ)
    if os.environ.get("TERM", "") in {"", "dumb"}:
        raise UsageError(
            "This terminal cannot show the screen (TERM is "
            f"{os.environ.get('TERM') or 'not set'}). "
            "Set TERM, for example to xterm-256color, or use lines: "
            'agent-tui --screen-reader. Without either: agent-tui -p "your request"'
        )
    # Only now is it certain that the screen's library, which takes 100 ms to load, is needed.
    from tui.startup.run import run_screen

    return run_screen(options, launch_dir, early)


def _report_failure(options: RunOptions, error: AgentError) -> None:
    """Print the error that ended the program; with JSON output, also as a result line."""
    write_message(sys.stderr, f"agent-tui: {sanitize(str(error))}")
    if options.output_format != "text" and not isinstance(error, OutputError):
        from agent.headless.headless_output import write_line
        from agent.headless.output_lines import failure_line

        session_id = error.session_id or options.session_id or options.resume or ""
        write_line(sys.stdout, failure_line(str(error), session_id))


def _without_terminal(options: RunOptions, launch_dir: Path) -> int:
    if options.demo:
        # The demo imports the scripted model, which no other start needs.
        from tui.startup.demo_run import print_demo

        return asyncio.run(print_demo(options, sys.stdout))
    what = "standard input" if sys.stdout.isatty() else "standard output"
    raise UsageError(f'{what} is not a terminal. Use agent-tui -p "…" for non-interactive runs.')


def _headless(options: RunOptions, launch_dir: Path) -> int:
    prompts = [] if options.setup_only else _prompts(options, sys.stdin)
    hide_secrets()
    # Imported only after the command line was validated.
    from tui.startup.headless_run import run_without_screen

    return run_to_end(run_without_screen(options, launch_dir, prompts))


def _prompts(options: RunOptions, stdin: TextIO | None) -> list[str] | None:
    """Return the prompts of a text run; None when they come as JSON lines."""
    if options.input_format == "stream-json":
        return None
    piped_text = ""
    if stdin is not None and not stdin.isatty():
        _report_open_input(stdin)
        data = stdin.buffer.read(MAX_STDIN_BYTES + 1)
        if len(data) > MAX_STDIN_BYTES:
            raise UsageError(
                f"Standard input is larger than {MAX_STDIN_BYTES // 1_000_000} MB. "
                "Save it to a file and name the file in the prompt."
            )
        piped_text = data.decode("utf-8", "replace").strip()
    if options.prompt and piped_text:
        return [f"{options.prompt}\n\n<stdin>\n{piped_text}\n</stdin>"]
    text = options.prompt or piped_text
    if not text.strip():
        raise UsageError('No prompt. Use: agent-tui -p "your request"')
    return [text]


def _report_open_input(stdin: TextIO) -> None:
    """Print a message if standard input stays open without data for `SILENCE_S`."""
    if not select.select([stdin], [], [], SILENCE_S)[0]:
        sys.stderr.write(
            "agent-tui: waiting for standard input to end. To run without it: </dev/null\n"
        )
