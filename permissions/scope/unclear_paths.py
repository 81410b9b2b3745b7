"""Paths that a command names, of which nobody knows whether it writes them."""

from __future__ import annotations

from msgspec.structs import replace

from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Scoped
from permissions.shell.access import AccessKind
from permissions.shell.command_facts import CommandFacts


def with_unclear_paths(scoped: Scoped, facts: CommandFacts) -> CommandFacts:
    """Return the facts, with a risk where such a path leads out of the working directories.

    Only what the kernel confines may be given such a path under a rule with a wildcard.
    """
    if facts.risk:
        return facts
    for word in facts.open_values:
        access = resolve_access(scoped.scope, AccessKind.MENTIONED, word, facts.directories)
        for target in access.targets if access is not None else ():
            if not scoped.scope.contains(target):
                return replace(facts, risk=f"{word.raw} may write outside the working directories")
    return facts
