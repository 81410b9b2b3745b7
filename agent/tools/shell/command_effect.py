"""Whether a shell command provably only reads, so that it may run beside other calls.

This decides about concurrency, not about permission. It uses the same parser and program table as
permissions, and anything that they do not know counts as a change.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from permissions.shell.access import AccessKind
from permissions.shell.analyze import analyze
from permissions.shell.command_facts import CommandFacts
from permissions.shell.syntax import Redirect, RedirectKind, Unparsable

_MAX_CHARS: Final = 10_000


@lru_cache(maxsize=256)
def only_reads(command: str, directory: str, home: str) -> bool:
    """Return whether every part is known to change nothing, the current directory included.

    `directory` does not affect the result: given that of the shell, the cached analysis of the
    command is shared with permissions.
    """
    if len(command) > _MAX_CHARS:
        return False
    facts = analyze(command, directory, home)
    return not isinstance(facts, Unparsable) and bool(facts) and all(map(_only_reads, facts))


def _only_reads(facts: CommandFacts) -> bool:
    return (
        facts.is_read_only
        and facts.has_literal_program
        and not facts.unknown_reason
        and not facts.inner
        and all(access.kind is AccessKind.READ for access in facts.accesses)
        and all(map(_is_harmless, facts.redirects))
    )


def _is_harmless(redirect: Redirect) -> bool:
    if redirect.kind is not RedirectKind.WRITE:
        return True
    return redirect.target is not None and redirect.target.plain == "/dev/null"
