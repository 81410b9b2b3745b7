"""Generate the manual page `docs/agent-tui.1` from the options and texts of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import click

from agent import exit_status
from tui.command_line.command_line import run
from tui.command_line.sectioned_help import EXAMPLES, SECTIONS
from tui.command_line.subcommands import commands

STATUSES: Final = (
    (exit_status.EXIT_COMPLETED, "completed"),
    (exit_status.EXIT_ERROR, "an error"),
    (exit_status.EXIT_USAGE, "wrong usage"),
    (exit_status.EXIT_DENIED, "completed, but a call was denied because it needed approval"),
    (exit_status.EXIT_LIMIT, "stopped at a limit for turns, cost or tokens"),
    (exit_status.EXIT_REFUSAL, "the model refused"),
    (exit_status.EXIT_HANGUP, "the terminal was closed"),
    (exit_status.EXIT_INTERRUPTED, "interrupted; the session can be continued"),
    (exit_status.EXIT_TERMINATED, "terminated; the session can be continued"),
)
VARIABLES: Final = (
    ("ANTHROPIC_API_KEY", "The key for Anthropic's API."),
    ("ANTHROPIC_BASE_URL", "Another server that supports the Messages API."),
    ("ANTHROPIC_AUTH_TOKEN", "The token for that server, if it needs one."),
    ("ANTHROPIC_MODEL", "The model; overrides the settings, and --model overrides it."),
    ("AGENT_TUI_HOME", "The directory for settings and sessions, instead of ~/.agent."),
    ("NO_COLOR", "If set to any value, colors are off."),
    ("VISUAL, EDITOR", "The editor that Ctrl+G opens; if neither is set, editor, nano, vim or vi."),
)
FILES: Final = (
    ("~/.agent/settings.json", "Your settings."),
    (
        ".agent/settings.json",
        "The project's settings; .agent/settings.local.json has yours for this project.",
    ),
    ("/etc/agent-tui/managed-settings.json", "The administrator's settings."),
    ("~/.agent/keybindings.json, ~/.agent/themes/", "Your keys and themes."),
    ("~/.agent/commands/, ~/.agent/skills/", "Your commands and skills."),
    ("~/.agent/sessions/", "Conversations."),
    ("AGENTS.md, CLAUDE.md", "Instructions for the model in a project."),
)


def page() -> str:
    """Return the page as roff; deterministic for the same command line."""
    context = click.Context(run, info_name="agent-tui", **run.context_settings)
    lines = [
        '.TH AGENT-TUI 1 "" "agent-tui" "User Commands"',
        ".SH NAME",
        "agent-tui \\- a coding agent in the terminal that explains every decision it makes",
        ".SH SYNOPSIS",
        ".B agent-tui\n[\\fIoptions\\fR] [\\fIprompt\\fR]\n.br",
        ".B agent-tui\n\\fIsubcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]",
        ".SH DESCRIPTION",
        _text(run.help or ""),
        ".PP",
        _text(
            "Without options, it opens a conversation in this folder, where ? shows the keys and / "
            "the commands. With -p, it prints the answer and exits."
        ),
        ".SH OPTIONS",
        *_options(context),
        ".SH SUBCOMMANDS",
        *_subcommands(),
        ".SH EXIT STATUS",
        *_terms((str(status), text) for status, text in STATUSES),
        ".SH ENVIRONMENT",
        *_terms(VARIABLES),
        ".SH FILES",
        *_terms(FILES),
        ".SH EXAMPLES",
        *_terms(EXAMPLES),
        ".SH SEE ALSO",
        _text("The docs folder of the source; start with docs/start.md."),
    ]
    return "\n".join(lines) + "\n"


def _options(context: click.Context) -> Iterator[str]:
    records = _records(run, context)
    for title, names in SECTIONS:
        yield f".SS {_text(title)}"
        yield from _terms(records.pop(name) for name in names)
    # click caches this option's names from the first context that asked.
    records["help"] = ("-h, --help", "Show this message and exit.")
    yield ".SS About"
    yield from _terms(records.values())


def _subcommands() -> Iterator[str]:
    group = commands()
    assert isinstance(group, click.Group)
    above = click.Context(group, info_name="agent-tui")
    for name in group.list_commands(above):
        command = group.get_command(above, name)
        assert command is not None
        yield from _subcommand(command, click.Context(command, parent=above, info_name=name))


def _subcommand(command: click.Command, context: click.Context) -> Iterator[str]:
    if not isinstance(command, click.Group) or command.invoke_without_command:
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        yield from _terms([(usage, command.get_short_help_str(200))])
        records = _records(command, context)
        yield ".RS"
        yield from _terms(records.values())
        yield ".RE"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _subcommand(inner, click.Context(inner, parent=context, info_name=name))


def _records(command: click.Command, context: click.Context) -> dict[str | None, tuple[str, str]]:
    return {
        parameter.name: record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        and "--help" not in parameter.opts
        and (record := parameter.get_help_record(context)) is not None
    }


def _terms(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, text in pairs:
        yield f".TP\n.B {_text(term)}\n{_text(text)}"


def _text(text: str) -> str:
    """Return text as one line, escaped for roff."""
    line = re.sub(r"\s+", " ", text.strip()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line
