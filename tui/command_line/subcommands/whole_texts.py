"""A group of commands whose help shows each whole description, on as many lines as needed."""

from __future__ import annotations

from typing import Final

import click

_MAX_CHARS: Final = 300
"""Of one command's text; click's own group stops at what fits beside the name."""


class WholeTexts(click.Group):
    """Use as `cls` of a group."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their texts."""
        named_commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(_MAX_CHARS))
            for name, command in named_commands
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
