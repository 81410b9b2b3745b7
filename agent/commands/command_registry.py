"""All commands of one start: lists of every source, one after the other; the order is the priority.

What is costly (reading directories) is cached per project and refreshed when files change; whether
a command is available and switched on is asked again at every listing. Source: the pattern
"command-and-plugin-systems".
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from agent.commands.spec import SKILLS, Command, PromptCommand, Surface

Source = Callable[[], Sequence[Command]]
"""Returns the commands of one source; cheap, for it is asked often."""


class CommandRegistry:
    """Merges sources. Holds metadata only: no command is imported here."""

    def __init__(self, sources: Sequence[Source], surface: Surface) -> None:
        """Of two commands of one name the one from the earlier source applies."""
        self._sources = tuple(sources)
        self.surface = surface
        """Where these commands are typed."""

    def all(self) -> tuple[Command, ...]:
        """Return what can be used now, first of each name, in order of priority."""
        by_name: dict[str, Command] = {}
        for source in self._sources:
            for command in source():
                meta = command.meta
                if self.surface in meta.availability and meta.is_enabled():
                    by_name.setdefault(meta.name, command)
        return tuple(by_name.values())

    def list_commands(self) -> tuple[Command, ...]:
        """Return what menus show, by name."""
        visible = [command for command in self.all() if command.meta.is_listed]
        return tuple(sorted(visible, key=lambda command: command.meta.name))

    def for_model(self) -> tuple[PromptCommand, ...]:
        """Return what the model may run by itself: skills first, each kind by name."""
        commands = [c for c in self.all() if isinstance(c, PromptCommand) and c.for_model]
        return tuple(sorted(commands, key=lambda c: (c.meta.source not in SKILLS, c.meta.name)))

    def find(self, name: str) -> Command | None:
        """Return the command of a name, else of an alias; None when there is none.

        A name precedes every alias, whatever their sources.
        """
        commands = self.all()
        for command in commands:
            if command.meta.name == name:
                return command
        return next((c for c in commands if name in c.meta.aliases), None)

    def nearest(self, name: str) -> str | None:
        """Return the name that a mistyped one was probably intended as."""
        commands = self.all()
        names = [command.meta.name for command in commands]
        aliases = [alias for command in commands for alias in command.meta.aliases]
        inside = next((each for each in names if each.endswith(f":{name}")), None)
        if inside is not None:
            # Of a command in a directory users remember the last part.
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
