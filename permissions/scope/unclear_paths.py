"""Paths in a command of which it is unknown whether the command writes them."""

from __future__ import annotations

from msgspec.structs import replace

from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Scoped
from permissions.shell.access import AccessKind
from permissions.shell.command_facts import CommandFacts


def with_unclear_paths(view: Scoped, facts: CommandFacts) -> CommandFacts:
    """Return the facts, with `unclear` set if such a path may not be written.

    A wildcard rule covers a command with such a path only if the kernel confines it.
    """
    for one in facts.with_inner():
        for word in one.open_values:
            access = resolve_access(view.scope, AccessKind.MENTIONED, word, one.directories)
            for target in access.targets if access is not None else ():
                if view.scope.check_write(target, word.raw) is not None:
                    return replace(facts, unclear=f"it is not known whether {word.raw} is written")
    return facts
