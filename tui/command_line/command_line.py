"""The command line: options, arguments and help, parsed by click.

Next: `tui.startup.start` (what a run does), `tui.command_line.subcommands`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

import click

from agent.options import SANDBOX_MODES, RunOptions
from tui.command_line.option_conflicts import refuse_contradictions
from tui.command_line.option_values import (
    TEXT_FILE,
    read_agents,
    read_pipe,
    read_pipes,
    read_prompt_files,
    read_schema,
    read_setup,
    refuse_empty,
    refuse_nan,
    rules_of,
    show_version,
    split_names,
    split_sources,
    split_tools,
)
from tui.command_line.sectioned_help import SectionedCommand
from tui.command_line.taken_options import add_ignored_options

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
MODES: Final = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
TEAMMATE_MODES: Final = ("auto", "in-process", "process", "panes")
CONTEXT: Final[dict[str, Any]] = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}


@click.command(
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=(
        "To use the name of a subcommand as a prompt, put -- before it. In the program, ? shows "
        "the keys and / the commands.\n\n"
        "Exit status with -p: 0 completed, 1 error, 2 wrong usage, 3 a call was denied because "
        "it needed approval, 4 a limit was reached, 5 the model refused."
    ),
)
@click.argument("prompt", required=False)
@click.option(
    "-p",
    "--print",
    "headless",
    is_flag=True,
    help="Print the answer and exit; do not draw a screen.",
)
@click.option(
    "--bg", "--background", "in_background", is_flag=True,
    help="Run the prompt in a background session; see agent-tui agents.",
)  # fmt: skip
@click.option(
    "-c",
    "--continue",
    "continue_latest",
    is_flag=True,
    help="Continue the latest session in this folder.",
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
@click.option("--fork-session", is_flag=True, help="Continue in a copy of the session.")
@click.option("--session-id", type=click.UUID, metavar="UUID", help="The id for the new session.")
@click.option("-n", "--name", callback=refuse_empty, metavar="TEXT", help="A name for the session.")
@click.option(
    "-w", "--worktree", is_flag=False, flag_value="", default=None, metavar="[NAME]",
    help="Work in a separate git worktree, below .agent/worktrees.",
)  # fmt: skip
@click.option(
    "--team", callback=refuse_empty, metavar="NAME",
    help="Lead a team: delegate to workers and combine their results.",
)  # fmt: skip
@click.option(
    "--teammate-mode", type=click.Choice(TEAMMATE_MODES), metavar="WHERE",
    help=f"Where the team's workers run: {', '.join(TEAMMATE_MODES)}.",
)  # fmt: skip
@click.option(
    "--orchestrate",
    is_flag=True,
    help="Orchestration mode: the model runs workflows; -p also allows them.",
)
@click.option("-m", "--model", callback=refuse_empty, metavar="NAME", help="Model to use.")
@click.option(
    "--fallback-model", "fallback_models", callback=split_names, metavar="NAME,…",
    help="Models that take over, in this order, while the model is overloaded.",
)  # fmt: skip
@click.option(
    "--advisor", callback=refuse_empty, metavar="NAME",
    help="Stronger model that the main model may consult, or off.",
)  # fmt: skip
@click.option(
    "--effort", type=click.Choice(EFFORTS), metavar="LEVEL",
    help=f"How hard the model thinks: {', '.join(EFFORTS)}.",
)  # fmt: skip
@click.option(
    "--thinking", type=click.Choice(("enabled", "adaptive", "disabled")), metavar="WHETHER",
    help="disabled: answer without thinking, if the model supports it; enabled, adaptive: think.",
)  # fmt: skip
@click.option(
    "--permission-mode", type=click.Choice(MODES), metavar="MODE",
    help=f"One of: {', '.join(MODES)}.",
)  # fmt: skip
@click.option(
    "--sandbox", type=click.Choice(SANDBOX_MODES), metavar="HOW",
    help="read-only: commands cannot change anything; workspace-write: commands run inside the "
    "sandbox without asking; off: commands are not confined, and more of them ask.",
)  # fmt: skip
@click.option(
    "--allow", "--allowedTools", "--allowed-tools", multiple=True, callback=rules_of,
    metavar="RULE",
    help="Allow calls without asking, such as 'Bash(git status)'. Repeatable.",
)  # fmt: skip
@click.option(
    "--ask",
    multiple=True,
    callback=rules_of,
    metavar="RULE",
    help="Always ask. Repeatable.",
)
@click.option(
    "--deny", multiple=True, callback=rules_of, metavar="RULE",
    help="Deny calls; 'Edit' also denies commands that write files. Repeatable.",
)  # fmt: skip
@click.option(
    "--disallowed-tools", "--disallowedTools", multiple=True, callback=rules_of,
    metavar="NAME,…", help="Remove these tools; a rule with a pattern acts like --deny.",
)  # fmt: skip
@click.option(
    "--tools", multiple=True, callback=split_tools, metavar="NAME,…",
    help="Give the model only these tools; an empty value gives none.",
)  # fmt: skip
@click.option(
    "--add-dir", "add_dirs", multiple=True, metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Another folder to work in. Repeatable.",
)  # fmt: skip
@click.option(
    "--settings", "settings_file", callback=read_pipe, metavar="FILE|JSON",
    help="Extra settings: a file, or JSON text.",
)  # fmt: skip
@click.option(
    "--setting-sources", callback=split_sources, metavar="LIST",
    help="Read settings, commands and instructions from these only: user, project, local.",
)  # fmt: skip
@click.option(
    "--plugin-dir", "plugin_dirs", multiple=True, metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Use the commands, skills, hooks, agents and MCP servers of a plugin. Repeatable.",
)  # fmt: skip
@click.option(
    "--plugin-dir-no-mcp",
    "plugins_without_servers",
    multiple=True,
    hidden=True,
    type=click.Path(path_type=Path, file_okay=False),
)
@click.option(
    "--agent", callback=refuse_empty, metavar="NAME", help="The agent that leads the session.",
)  # fmt: skip
@click.option(
    "--agents", callback=read_agents, metavar="FILE|JSON",
    help="Agents by name: {name: {description, prompt, …}}.",
)  # fmt: skip
@click.option(
    "--mcp-config", "mcp_configs", multiple=True, callback=read_pipes, metavar="FILE|JSON",
    help="MCP servers for this run: a file, or JSON text. Repeatable.",
)  # fmt: skip
@click.option("--strict-mcp-config", is_flag=True, help="Use only the servers of --mcp-config.")
@click.option(
    "--max-turns",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N answers with tool calls.",
)
@click.option(
    "--max-budget-usd", type=click.FloatRange(min=0), callback=refuse_nan, metavar="USD",
    help="Stop when this many US dollars are spent.",
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
@click.option("--init-only", is_flag=True, help="Run the start-up hooks (--init), then exit.")
@click.option(
    "--include-partial-messages", is_flag=True, help="Add stream_event lines to stream-json."
)
@click.option(
    "--forward-subagent-text", "forwards_agent_text", is_flag=True,
    help="Add the texts of agents to stream-json.",
)  # fmt: skip
@click.option(
    "--include-hook-events", "shows_hooks", is_flag=True,
    help="Add the runs of hooks to stream-json.",
)  # fmt: skip
@click.option(
    "--replay-user-messages", "replays_prompts", is_flag=True,
    help="Repeat each prompt in the output when its turn comes.",
)  # fmt: skip
@click.option(
    "--no-session-persistence",
    is_flag=True,
    help="Do not save the session; it cannot be continued.",
)
@click.option(
    "--permission-prompt-tool",
    metavar="stdio|TOOL",
    help="Who answers permission requests: stdio (requests on standard output, answers on standard "
    "input), or an MCP tool, mcp__server__tool.",
)
@click.option(
    "--json-schema", callback=refuse_empty, metavar="SCHEMA",
    help="JSON schema that the answer must follow, as text or a file.",
)  # fmt: skip
@click.option("--system-prompt", metavar="TEXT", help="Replace the system prompt.")
@click.option("--append-system-prompt", metavar="TEXT", help="Add to the system prompt.")
@click.option("--system-prompt-file", type=TEXT_FILE, metavar="FILE", help="The same, from a file.")
@click.option(
    "--append-system-prompt-file", type=TEXT_FILE, metavar="FILE", help="The same, from a file."
)
@click.option(
    "--allow-bypass", "--allow-dangerously-skip-permissions", is_flag=True,
    help="Allow bypassPermissions to be chosen.",
)  # fmt: skip
@click.option(
    "--dangerously-skip-permissions", is_flag=True,
    help="Start in bypassPermissions: only deny rules, ask rules and the scope apply.",
)  # fmt: skip
@click.option("--trust", is_flag=True, help="Trust this folder for this run.")
@click.option("--demo", is_flag=True, help="Use the scripted demo model on a sample project.")
@click.option(
    "--inline", "is_inline", is_flag=True,
    help="Keep the conversation in the terminal's own scrollback.",
)  # fmt: skip
@click.option(
    "--screen-reader", "--ax-screen-reader", is_flag=True,
    help="Write plain labeled lines, for screen readers.",
)  # fmt: skip
@click.option("-d", "--debug", is_flag=True, help="Write a debug log.")
@click.option(
    "--debug-file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Write the debug log to this file.",
)  # fmt: skip
@click.option("--max-thinking-tokens", type=click.IntRange(min=0), hidden=True)
@click.option("--verbose", is_flag=True, hidden=True)
@click.option(
    "-v", "--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version,
    help="Show the version and exit.",
)  # fmt: skip
@add_ignored_options
def run(**values: Any) -> int:
    """A coding agent in the terminal: say what you want, watch it work, approve what is risky."""
    values.pop("verbose")
    values["debug"] |= values["debug_file"] is not None
    refuse_contradictions(values)
    if values.pop("in_background"):
        from tui.startup.background_start import start_in_background  # rare

        session_uuid = values["session_id"]
        session_id = str(session_uuid) if session_uuid is not None else None
        return start_in_background(sys.argv[1:], values["prompt"], session_id)
    prompt_tool = values.pop("permission_prompt_tool")
    values["asks_over_stdout"] = prompt_tool == "stdio"
    values["permission_tool"] = prompt_tool if prompt_tool != "stdio" else None
    # Formats other than text imply a run without a screen.
    values["headless"] |= values["input_format"] != "text" or values["output_format"] != "text"
    read_prompt_files(values)
    if values["session_id"] is not None:
        values["session_id"] = str(values["session_id"])
    thinking, thinking_tokens = values.pop("thinking"), values.pop("max_thinking_tokens")
    if thinking is not None or thinking_tokens is not None:
        values["wants_thinking"] = thinking != "disabled" and thinking_tokens != 0
    values["stores_session"] = not values.pop("no_session_persistence")
    if values.pop("dangerously_skip_permissions"):
        values["allow_bypass"] = True
        values["permission_mode"] = values["permission_mode"] or "bypassPermissions"
    # Without a screen the mode cannot be chosen later, so naming it also allows it.
    values["allow_bypass"] |= (
        values["headless"] and values["permission_mode"] == "bypassPermissions"
    )
    values["plugin_dirs"] += values["plugins_without_servers"]
    read_setup(values)
    read_schema(values)
    options = RunOptions(**values)
    from tui.startup.early_prompt_policy import early_prompt

    with early_prompt(os.environ, options) as early:
        # Imported only now: help and version need none of these modules.
        from tui.startup.start import start

        return start(options, early)
