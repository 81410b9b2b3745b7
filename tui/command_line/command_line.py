"""The command line as click reads it: options, arguments, help.

Next: `tui.startup.start` (what a run does), `tui.command_line.subcommands`.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, Final

import click

from agent.options import SANDBOX_MODES, RunOptions
from tui.command_line import SUBCOMMANDS
from tui.command_line.foreign_options import INSTEAD, WANTS, WORDS, meant, spread
from tui.command_line.option_conflicts import refuse_contradictions
from tui.command_line.taken_options import taken_without_effect
from tui.version import version

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
MODES: Final = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
TEAMMATE_MODES: Final = ("auto", "in-process", "process", "panes")
SOURCES: Final = ("user", "project", "local")
CONTEXT: Final[dict[str, Any]] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}

SECTIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Start",
        (
            "headless", "in_background", "continue_latest", "resume", "fork_session",
            "session_id", "name", "team", "teammate_mode", "orchestrate", "demo", "is_inline",
            "screen_reader",
        ),
    ),
    (
        "Model",
        (
            "model", "fallback_models", "advisor", "effort", "thinking", "max_turns",
            "max_budget_usd",
        ),
    ),
    (
        "What it may do",
        (
            "permission_mode", "sandbox", "allow", "ask", "deny", "tools", "add_dirs", "trust",
            "allow_bypass", "dangerously_skip_permissions",
        ),
    ),
    (
        "Settings",
        (
            "settings_file", "setting_sources", "plugin_dirs", "agent", "agents", "mcp_configs",
            "strict_mcp_config", "system_prompt",
            "system_prompt_file", "append_system_prompt", "append_system_prompt_file",
        ),
    ),
    (
        "With -p",
        (
            "output_format", "json_schema", "input_format", "include_partial_messages",
            "replays_prompts", "permission_prompt_tool", "no_session_persistence", "init",
            "maintenance", "init_only",
        ),
    ),
)  # fmt: skip
"""The options by topic; names are those of the parameters."""

EXAMPLES: Final = (
    ("agent-tui", "a conversation in this folder"),
    ('agent-tui "why does test_x fail?"', "the same, with a first prompt"),
    ("agent-tui -c", "continue where you left off"),
    ('git diff | agent-tui -p "review this"', "no screen; the answer on standard output"),
    ("agent-tui --demo", "look around, without an account"),
)


_TEXT_FILE: Final = click.Path(path_type=Path, exists=True, dir_okay=False)
"""A file whose text is the value."""


def _text_of(file: Path, option: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise click.UsageError(f"{option} {file}: {reason}") from error


def _show_version(context: click.Context, _parameter: click.Parameter, is_requested: bool) -> None:
    if is_requested and not context.resilient_parsing:
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


def _something(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """Refuse a value that is empty: a variable of a script was not set."""
    if value is not None and not value.strip():
        raise click.BadParameter("the value is empty")
    return value


def _file_or_json(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """Replace the name of a pipe by its content: it can be read once only."""
    from permissions.base.files.named_pipe import PipeError, text_of_pipe  # few starts name a file

    value = _something(context, parameter, value)
    try:
        text = text_of_pipe(value) if value is not None else None
    except PipeError as error:
        raise click.BadParameter(f"{value} {error}") from error
    if text is not None and not text.lstrip().startswith("{"):
        raise click.BadParameter(f"{value} does not begin with {{, as JSON settings do")
    return value if text is None else text


def _agents(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> dict[str, object]:
    """Read definitions of agents, as text or from a file."""
    value = _file_or_json(context, parameter, value)
    if value is None:
        return {}
    import json  # few starts name agents

    text = value
    if not value.lstrip().startswith("{"):
        try:
            text = Path(value).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.BadParameter(f"{value}: {error}") from error
    try:
        entries = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"no JSON: {error}") from error
    if not isinstance(entries, dict):
        raise click.BadParameter("expected an object of agents")
    return entries


def _files_or_json(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(filter(None, (_file_or_json(context, parameter, value) for value in values)))


def _amount(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuse what no amount is, and compares with none: `nan`."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not an amount")
    return value


def _names(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, ...]:
    """Split a list of names at its commas."""
    if value is None:
        return ()
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    if not names:
        raise click.BadParameter("the value is empty")
    return names


def _tools(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Split a list of tools at commas and spaces; `default` is all of them."""
    names = tuple(name for value in values for name in value.replace(",", " ").split())
    return None if not values or "default" in names else names


def _sources(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Split a list of sources; an empty one is none of them."""
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    unknown = next((name for name in names if name not in SOURCES), None)
    if unknown is not None:
        raise click.BadParameter(f"{unknown!r} is not one of {', '.join(SOURCES)}")
    return names


_AS_PROMPT: Final = "As a prompt: agent-tui -- {}"


class _InSections(click.Command):
    """A command whose help shows its options by what they are about, and examples."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what other agents' users type is understood or answered.

        Raises:
            click.UsageError: they cannot be used; the message names the alternative.
        """
        first = args[0] if args else ""
        if len(args) == 1:
            args = [WANTS.get(first, first)]
        if first in WORDS:
            raise click.UsageError(f"{first}: {WORDS[first]} {_AS_PROMPT.format(first)}", ctx)
        subcommand = meant(first) if len(args) == 1 else None
        if subcommand is not None:
            text = f"There is no {first!r}. Did you mean {subcommand!r}? {_AS_PROMPT.format(first)}"
            raise click.UsageError(text, ctx)
        try:
            return super().parse_args(ctx, spread(args))
        except click.NoSuchOption as error:
            name = error.option_name.partition("=")[0]
            if name not in INSTEAD:
                raise
            raise click.UsageError(f"There is no {name} here: {INSTEAD[name]}", ctx) from error
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            text = f"{error.message}. Put a prompt of several words in quotes."
            raise click.UsageError(text, ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section; an option that no section names goes to the last one."""
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            and (record := parameter.get_help_record(ctx)) is not None
        }
        for title, names in SECTIONS:
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names if name in records])
        with formatter.section("About"):
            formatter.write_dl(list(records.values()))
        with formatter.section("Subcommands (each has --help)"):
            formatter.write_dl(list(SUBCOMMANDS.items()))
        with formatter.section("Examples"):
            formatter.write_dl(EXAMPLES)


@click.command(
    cls=_InSections,
    context_settings=CONTEXT,
    epilog=(
        "Use -- before a prompt that is the word of a subcommand. Inside the program, ? shows "
        "the keys and / the commands.\n\n"
        "Exit status with -p: 0 completed, 1 error, 2 wrong usage, 3 a call was denied because "
        "nobody could be asked, 4 a limit was reached, 5 the model refused."
    ),
)
@click.argument("prompt", required=False)
@click.option(
    "-p", "--print", "headless", is_flag=True, help="Print the answer and exit; no screen."
)
@click.option(
    "--bg", "--background", "in_background", is_flag=True,
    help="Work on the prompt in the background; agent-tui agents shows it.",
)  # fmt: skip
@click.option(
    "-c", "--continue", "continue_latest", is_flag=True, help="Continue the latest session here."
)
@click.option(
    "-r",
    "--resume",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[ID|NAME]",
    help="Resume a session by its id or name, or pick one.",
)
@click.option(
    "--fork-session", is_flag=True, help="Continue in a copy, leave the session as it is."
)
@click.option("--session-id", type=click.UUID, metavar="UUID", help="The id for the new session.")
@click.option("-n", "--name", callback=_something, metavar="TEXT", help="A name for the session.")
@click.option(
    "--team", callback=_something, metavar="NAME",
    help="Lead a team: delegate to workers, answer for all of them.",
)  # fmt: skip
@click.option(
    "--teammate-mode", type=click.Choice(TEAMMATE_MODES), metavar="WHERE",
    help=f"Where its workers run: {', '.join(TEAMMATE_MODES)}.",
)  # fmt: skip
@click.option(
    "--orchestrate",
    is_flag=True,
    help="Orchestration mode: the model runs workflows; -p also allows them.",
)
@click.option("-m", "--model", callback=_something, metavar="NAME", help="Model to use.")
@click.option(
    "--fallback-model", "fallback_models", callback=_names, metavar="NAME,…",
    help="Models that take over, in this order, while the model is overloaded.",
)  # fmt: skip
@click.option(
    "--advisor", callback=_something, metavar="NAME",
    help="Stronger model that the working one may consult; off for none.",
)  # fmt: skip
@click.option(
    "--effort", type=click.Choice(EFFORTS), metavar="LEVEL",
    help=f"How hard the model thinks: {', '.join(EFFORTS)}.",
)  # fmt: skip
@click.option(
    "--thinking", type=click.Choice(("enabled", "adaptive", "disabled")), metavar="WHETHER",
    help="disabled: answer without thinking, where the model can; enabled, adaptive: think.",
)  # fmt: skip
@click.option(
    "--permission-mode", type=click.Choice(MODES), metavar="MODE",
    help=f"One of: {', '.join(MODES)}.",
)  # fmt: skip
@click.option(
    "--sandbox", type=click.Choice(SANDBOX_MODES), metavar="HOW",
    help="read-only: no command changes anything; workspace-write: commands run without asking, "
    "inside the sandbox; off: commands are not confined, and more is asked.",
)  # fmt: skip
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
    "--tools", multiple=True, callback=_tools, metavar="NAME,…",
    help="Give the model these tools only; an empty value gives none.",
)  # fmt: skip
@click.option(
    "--add-dir", "add_dirs", multiple=True, metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Another folder to work in. Repeatable.",
)  # fmt: skip
@click.option(
    "--settings", "settings_file", callback=_file_or_json, metavar="FILE|JSON",
    help="Extra settings: a file, or their text.",
)  # fmt: skip
@click.option(
    "--setting-sources", callback=_sources, metavar="LIST",
    help="Use only these of user, project, local: settings, commands, instructions.",
)  # fmt: skip
@click.option(
    "--plugin-dir", "plugin_dirs", multiple=True, metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Use the hooks, agents and MCP servers of a plugin. Repeatable.",
)  # fmt: skip
@click.option(
    "--plugin-dir-no-mcp",
    "plugins_without_servers",
    multiple=True,
    hidden=True,
    type=click.Path(path_type=Path, file_okay=False),
)
@click.option(
    "--agent", callback=_something, metavar="NAME", help="The agent that leads the session.",
)  # fmt: skip
@click.option(
    "--agents", callback=_agents, metavar="FILE|JSON",
    help="Agents by name: {name: {description, prompt, …}}.",
)  # fmt: skip
@click.option(
    "--mcp-config", "mcp_configs", multiple=True, callback=_files_or_json, metavar="FILE|JSON",
    help="MCP servers for this run: a file, or its text. Repeatable.",
)  # fmt: skip
@click.option("--strict-mcp-config", is_flag=True, help="Use only the servers of --mcp-config.")
@click.option(
    "--max-turns",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N answers with tool calls.",
)
@click.option(
    "--max-budget-usd", type=click.FloatRange(min=0), callback=_amount, metavar="USD",
    help="Stop when this is spent.",
)  # fmt: skip
@click.option(
    "--output-format", type=click.Choice(("text", "json", "stream-json")), default="text",
    metavar="FORM", help="text (the default), json or stream-json.",
)  # fmt: skip
@click.option(
    "--input-format", type=click.Choice(("text", "stream-json")), default="text",
    metavar="FORM", help="text (the default) or stream-json.",
)  # fmt: skip
@click.option("--init", "init", is_flag=True, help="Run the Setup hooks for a new checkout first.")
@click.option("--maintenance", is_flag=True, help="Run the Setup hooks for maintenance first.")
@click.option("--init-only", is_flag=True, help="Run the hooks of the start (--init), and end.")
@click.option("--include-partial-messages", is_flag=True, help="Add stream_event lines.")
@click.option(
    "--replay-user-messages", "replays_prompts", is_flag=True,
    help="Repeat each prompt in the output when its turn comes.",
)  # fmt: skip
@click.option(
    "--no-session-persistence", is_flag=True, help="Keep no session: nothing to continue."
)
@click.option(
    "--permission-prompt-tool",
    metavar="stdio|TOOL",
    help="stdio: ask for permission on standard output, read answers from standard input. Or an "
    "MCP tool that is asked, mcp__server__tool.",
)
@click.option(
    "--json-schema", callback=_something, metavar="SCHEMA",
    help="JSON schema that the answer must follow, as text or a file.",
)  # fmt: skip
@click.option("--system-prompt", metavar="TEXT", help="Replace the system prompt.")
@click.option("--append-system-prompt", metavar="TEXT", help="Add to the system prompt.")
@click.option(
    "--system-prompt-file", type=_TEXT_FILE, metavar="FILE", help="The same, from a file."
)
@click.option(
    "--append-system-prompt-file", type=_TEXT_FILE, metavar="FILE", help="The same, from a file."
)
@click.option(
    "--allow-bypass", "--allow-dangerously-skip-permissions", is_flag=True,
    help="Allow bypassPermissions to be chosen.",
)  # fmt: skip
@click.option(
    "--dangerously-skip-permissions", is_flag=True,
    help="Start in bypassPermissions: nothing is asked.",
)  # fmt: skip
@click.option("--trust", is_flag=True, help="Trust this folder for this run.")
@click.option("--demo", is_flag=True, help="Use the scripted demo model on a sample project.")
@click.option(
    "--inline", "is_inline", is_flag=True,
    help="Keep the conversation in the terminal's own scrollback.",
)  # fmt: skip
@click.option(
    "--screen-reader", "--ax-screen-reader", is_flag=True,
    help="Plain labeled lines, nothing drawn: for screen readers.",
)  # fmt: skip
@click.option("-d", "--debug", is_flag=True, help="Write a debug log.")
@click.option(
    "--debug-file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Write the debug log to this file.",
)  # fmt: skip
@click.option("--max-thinking-tokens", type=click.IntRange(min=0), hidden=True)
@click.option("--verbose", is_flag=True, hidden=True)
@click.option(
    "-v", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
@taken_without_effect
def run(**given: Any) -> int:
    """A coding agent in the terminal: say what you want, watch it work, approve what is risky."""
    given.pop("verbose")
    given["debug"] |= given["debug_file"] is not None
    refuse_contradictions(given)
    if given.pop("in_background"):
        from tui.startup.background_start import start_in_background  # rare

        named = given["session_id"]
        session_id = str(named) if named is not None else None
        return start_in_background(sys.argv[1:], given["prompt"], session_id)
    asked = given.pop("permission_prompt_tool")
    given["asks_over_stdout"] = asked == "stdio"
    given["permission_tool"] = asked if asked != "stdio" else None
    # Other forms have no screen.
    given["headless"] |= given["input_format"] != "text" or given["output_format"] != "text"
    _read_prompt_files(given)
    if given["session_id"] is not None:
        given["session_id"] = str(given["session_id"])
    thinking, thinking_tokens = given.pop("thinking"), given.pop("max_thinking_tokens")
    if thinking is not None or thinking_tokens is not None:
        given["wants_thinking"] = thinking != "disabled" and thinking_tokens != 0
    given["stores_session"] = not given.pop("no_session_persistence")
    if given.pop("dangerously_skip_permissions"):
        given["allow_bypass"] = True
        given["permission_mode"] = given["permission_mode"] or "bypassPermissions"
    # Without a screen nobody can choose the mode later: to name it is to want it.
    given["allow_bypass"] |= given["headless"] and given["permission_mode"] == "bypassPermissions"
    given["plugin_dirs"] += given["plugins_without_servers"]
    _read_setup(given)
    _read_schema(given)
    options = RunOptions(**given)
    # The run's own modules come only now: help and version need none of them.
    from tui.startup.start import start

    return start(options)


def _read_prompt_files(given: dict[str, Any]) -> None:
    """Replace the options that name a file of a system prompt by its text."""
    for name in ("system_prompt", "append_system_prompt"):
        file = given.pop(f"{name}_file")
        if file is not None:
            option = f"--{name.replace('_', '-')}"
            if given[name] is not None:
                raise click.UsageError(f"Give either {option} or {option}-file.")
            given[name] = _text_of(file, f"{option}-file")


def _read_schema(given: dict[str, Any]) -> None:
    """Replace the file of a JSON schema by its text."""
    schema = given["json_schema"]
    if schema is None:
        return
    if not given["headless"]:
        raise click.UsageError("--json-schema goes with -p")
    if not schema.lstrip().startswith("{"):
        given["json_schema"] = _text_of(Path(schema), "--json-schema")


def _read_setup(given: dict[str, Any]) -> None:
    """Replace the options about Setup hooks by what is run."""
    is_init, is_maintenance = given.pop("init"), given.pop("maintenance")
    if given.pop("init_only"):
        given |= {"headless": True, "setup": "init", "setup_only": True}
    elif is_init or is_maintenance:
        if not given["headless"]:
            raise click.UsageError("--init and --maintenance go with -p; alone: --init-only")
        given["setup"] = "init" if is_init else "maintenance"
