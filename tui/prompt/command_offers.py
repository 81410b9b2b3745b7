"""The commands as they are offered: below the prompt, and in the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.prompt.completion import Candidate

if TYPE_CHECKING:
    # Nothing of a command is imported before the first `/` is typed.
    from agent.commands.registry import CommandRegistry


def candidates(registry: CommandRegistry) -> tuple[Candidate, ...]:
    """Return all commands, for the menu below the prompt."""
    return tuple(
        Candidate(
            command.meta.name,
            f"{command.meta.argument_hint}  {command.meta.description}".strip(),
            command.meta.aliases,
        )
        for command in registry.listed()
    )
