"""All commands: the lists of every source, in order of priority.

Costly work (reading directories) is cached per project and refreshed when files change; whether a
command is available and enabled is checked again for every listing. Source: the pattern
"command-and-plugin-systems".
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from agent.commands.spec import SKILLS, Command, PromptCommand, Surface

Source = Callable[[], Sequence[Command]]
"""Returns the commands of one source; must be cheap, because it is called often."""


class CommandRegistry:
    """Merges sources. Contains metadata only: no command is imported here."""

    def __init__(self, sources: Sequence[Source], surface: Surface) -> None:
        """Of two commands with one name, that of the earlier source is used."""
        self._sources = tuple(sources)
        self.surface = surface
        """Where these commands are typed."""

    def all(self) -> tuple[Command, ...]:
        """Return the commands available now, the first of each name, in order of priority."""
        by_name: dict[str, Command] = {}
        for source in self._sources:
            for command in source():
                meta = command.meta
                if self.surface in meta.availability and meta.is_enabled():
                    by_name.setdefault(meta.name, command)
        return tuple(by_name.values())

    def list_commands(self) -> tuple[Command, ...]:
        """Return the commands that menus show, sorted by name."""
        visible = [command for command in self.all() if command.meta.is_listed]
        return tuple(sorted(visible, key=lambda command: command.meta.name))

    def for_model(self) -> tuple[PromptCommand, ...]:
        """Return the commands that the model may run: skills first, then others, sorted by name."""
        commands = [c for c in self.all() if isinstance(c, PromptCommand) and c.for_model]
        return tuple(sorted(commands, key=lambda c: (c.meta.source not in SKILLS, c.meta.name)))

    def find(self, name: str) -> Command | None:
        """Return the command with this name, else with this alias, else None.

        Names take precedence over aliases, regardless of the sources.
        """
        commands = self.all()
        for command in commands:
            if command.meta.name == name:
                return command
        return next((c for c in commands if name in c.meta.aliases), None)

    def nearest(self, name: str) -> str | None:
        """Return the name that a mistyped one probably meant, or None."""
        commands = self.all()
        names = [command.meta.name for command in commands]
        aliases = [alias for command in commands for alias in command.meta.aliases]
        inside = next((each for each in names if each.endswith(f":{name}")), None)
        if inside is not None:
            # Users often type only the last part of `folder:name`.
            return inside
        for candidates in (names, aliases):
            close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.7)
            if close:
                return close[0]
        return None


def split_command(text: str) -> tuple[str, str] | None:
    """Return `(name, arguments)` of a prompt that begins with a slash; None for other prompts.

    A path such as `/usr/bin` is not a command.
    """
    if not text.startswith("/") or len(text) < 2:
        return None
    first, *rest = text[1:].split(maxsplit=1)
    if text[1].isspace() or not first or "/" in first:
        return None
    return first, rest[0].strip() if rest else ""
