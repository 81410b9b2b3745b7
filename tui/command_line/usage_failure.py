"""Reports wrong options: a message for users, and a result line for programs that read JSON."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import click

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message

_JSON: Final = compile_late(r"--output-format=?(?:stream-)?json")


def report_usage(arguments: Sequence[str], error: click.ClickException) -> int:
    """Report an error of the command line; return the exit status.

    With JSON output a result line is written, too, because client libraries do not show the text
    of standard error.
    """
    message = io.StringIO()
    error.show(message)
    write_message(sys.stderr, sanitize(message.getvalue()).removesuffix("\n"))
    if _is_json(arguments):
        from agent.headless.headless_output import write_line
        from agent.headless.output_lines import failure_line

        write_line(sys.stdout, failure_line(sanitize(error.format_message()), ""))
    return error.exit_code


def _is_json(arguments: Sequence[str]) -> bool:
    """Whether the options ask for JSON output; click has not parsed them."""
    options = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    pairs = (f"{option}{value}" for option, value in pairwise(options))
    return any(_JSON.fullmatch(each) for each in (*options, *pairs))
