"""The command line as click reads it: options, arguments, help.

Next: `tui.start` (what a run does), `tui.subcommands`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from agent.options import RunOptions
from tui.subcommand_names import SUBCOMMANDS
from tui.version import version

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
MODES: Final = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
CONTEXT: Final[dict[str, Any]] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}


def _show_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"{version()} (agent-tui)")
        context.exit()


def _rules(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Split comma or space separated rule lists, leaving what is inside parentheses alone."""
    return tuple(rule for value in values for rule in split_rules(value))


def split_rules(text: str) -> list[str]:
    """Return the rules of one flag value: `"Bash(git *),Edit"` is two, `Bash(a, b)` is one."""
    rules: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += (character == "(") - (character == ")" and depth > 0)
        if depth == 0 and character in ", ":
            if current:
                rules.append(current)
            current = ""
        else:
            current += character
    return [*rules, current] if current else rules


@click.command(
    context_settings=CONTEXT,
    epilog=(
        "Subcommands: " + ", ".join(SUBCOMMANDS) + " (agent-tui SUBCOMMAND --help). "
        "Use -- before a prompt that starts with one of these words."
    ),
)
@click.argument("prompt", required=False)
@click.option(
    "-p", "--print", "headless", is_flag=True, help="Print the answer and exit; no screen."
)
@click.option(
    "-c", "--continue", "continue_latest", is_flag=True, help="Continue the latest session here."
)
@click.option(
    "-r",
    "--resume",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[ID]",
    help="Resume a session by its id, or pick one.",
)
@click.option(
    "--fork-session", is_flag=True, help="Continue in a copy, leave the session as it is."
)
@click.option("--model", help="Model to use.")
@click.option("--effort", type=click.Choice(EFFORTS), help="How hard the model thinks.")
@click.option("--permission-mode", metavar="MODE", help=f"One of: {', '.join(MODES)}.")
@click.option(
    "--allow", "--allowedTools", "--allowed-tools", multiple=True, callback=_rules, metavar="RULE",
    help="Allow without asking, e.g. 'Bash(git status)'. Repeatable.",
)  # fmt: skip
@click.option(
    "--ask", multiple=True, callback=_rules, metavar="RULE", help="Always ask. Repeatable."
)
@click.option(
    "--deny", "--disallowedTools", "--disallowed-tools", multiple=True, callback=_rules,
    metavar="RULE", help="Never allow. Repeatable.",
)  # fmt: skip
@click.option(
    "--add-dir", "add_dirs", multiple=True, type=click.Path(path_type=Path),
    help="A further folder to work in. Repeatable.",
)  # fmt: skip
@click.option(
    "--settings", "settings_file", type=click.Path(path_type=Path), help="Extra settings file."
)
@click.option("--mcp-config", type=click.Path(path_type=Path), help="MCP servers from a file.")
@click.option("--max-turns", type=click.IntRange(min=1), help="Stop after N model responses.")
@click.option("--max-budget-usd", type=click.FloatRange(min=0), help="Stop when this is spent.")
@click.option(
    "--output-format", type=click.Choice(("text", "json", "stream-json")), default="text",
    show_default=True, help="With -p.",
)  # fmt: skip
@click.option(
    "--input-format", type=click.Choice(("text", "stream-json")), default="text",
    show_default=True, help="With -p.",
)  # fmt: skip
@click.option("--include-partial-messages", is_flag=True, help="Add stream_event lines.")
@click.option("--system-prompt", help="Replace the system prompt.")
@click.option("--append-system-prompt", help="Add to the system prompt.")
@click.option("--allow-bypass", is_flag=True, help="Open the gate of the mode that asks nothing.")
@click.option(
    "--dangerously-skip-permissions", is_flag=True,
    help="The same, and start in that mode.",
)  # fmt: skip
@click.option("--trust", is_flag=True, help="Trust this folder for this run.")
@click.option("--demo", is_flag=True, help="Use the scripted demo model on a sample project.")
@click.option("--debug", is_flag=True, help="Write a debug log.")
@click.option("--verbose", is_flag=True, hidden=True)
@click.option(
    "-v", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
def run(**given: Any) -> int:
    """A coding agent in the terminal: say what you want, watch it work, approve what is risky."""
    given.pop("verbose")
    if given.pop("dangerously_skip_permissions"):
        given["allow_bypass"] = True
        given["permission_mode"] = given["permission_mode"] or "bypassPermissions"
    options = RunOptions(**given)
    # The run's own modules come only now: help and version need none of them.
    from tui.start import start

    return start(options)
