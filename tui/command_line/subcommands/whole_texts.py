"""A click group whose help shows the descriptions of its commands without shortening them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

import click

_MAX_CHARS: Final = 300
"""Maximum length of a description; click's group shortens it to one line."""


HABITS: Final = {
    "permissions": {"test": "check", "list": "explain", "ls": "explain", "why": "explain"},
    "sessions": {"ls": "list", "rm": "delete", "remove": "delete", "cat": "show", "find": "search"},
    "hooks": {"ls": "list", "test": "run", "fire": "run"},
    "mcp": {"ls": "list", "rm": "remove", "delete": "remove"},
    "config": {"ls": "list"},
}
"""Names from other programs and the corresponding commands, by group."""


class WholeTexts(click.Group):
    """Use as `cls` of a group."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names.

        Raises:
            click.UsageError: there is no such command; the message names a similar one.
        """
        word, names = args[0], self.list_commands(ctx)
        if word in names or word.startswith("-"):
            return super().resolve_command(ctx, args)
        guess = HABITS.get(self.name or "", {}).get(word)
        close = [guess] if guess in names else get_close_matches(word, names, 1)
        hint = f" Did you mean {ctx.command_path} {close[0]}?" if close else ""
        raise click.UsageError(f"Unknown command {word!r}.{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their descriptions."""
        named_commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(_MAX_CHARS))
            for name, command in named_commands
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
