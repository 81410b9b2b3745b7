"""A click command that groups its options by topic, and accepts options of other agents."""

from __future__ import annotations

from typing import Final

import click

from tui.command_line import SUBCOMMANDS
from tui.command_line.foreign_options import (
    INSTEAD,
    WANTS,
    WORDS,
    likely_subcommand,
    repeat_options,
)

SECTIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "Start",
        (
            "headless", "in_background", "continue_latest", "resume", "fork_session",
            "session_id", "name", "worktree", "team", "teammate_mode", "orchestrate", "demo",
            "is_inline", "screen_reader",
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
        "Permissions",
        (
            "permission_mode", "sandbox", "allow", "ask", "deny", "tools", "disallowed_tools",
            "add_dirs", "trust",
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
        "Headless mode (-p)",
        (
            "output_format", "json_schema", "input_format", "include_partial_messages",
            "forwards_agent_text", "shows_hooks", "replays_prompts", "permission_prompt_tool",
            "no_session_persistence", "init", "maintenance", "init_only",
        ),
    ),
)  # fmt: skip
"""The options by topic, as parameter names."""

EXAMPLES: Final = (
    ("agent-tui", "a conversation in this folder"),
    ('agent-tui "why does test_x fail?"', "the same, with a first prompt"),
    ("agent-tui -c", "continue where you left off"),
    ('git diff | agent-tui -p "review this"', "print the answer, without a screen"),
    ("agent-tui --demo", "try it without an account"),
)

_AS_PROMPT: Final = "As a prompt: agent-tui -- {}"


class SectionedCommand(click.Command):
    """A command whose help groups its options by topic and shows examples."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, including options that users of other agents type.

        Raises:
            click.UsageError: an option of another agent does not exist here; the message names the
                alternative.
        """
        first = args[0] if args else ""
        if len(args) == 1:
            args = [WANTS.get(first, first)]
        if first in WORDS:
            raise click.UsageError(f"{first}: {WORDS[first]} {_AS_PROMPT.format(first)}", ctx)
        subcommand = likely_subcommand(first) if len(args) == 1 else None
        if subcommand is not None:
            text = f"There is no {first!r}. Did you mean {subcommand!r}? {_AS_PROMPT.format(first)}"
            raise click.UsageError(text, ctx)
        try:
            return super().parse_args(ctx, repeat_options(args))
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
        """Write each section; options without a section go to the last one."""
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
