"""Which protected names git would change in the work tree; git is asked before.

The sandbox would stop git from writing them. What the command text does not show, such as what a
pull fetches or a script starts, is checked inside the sandbox (`agent.sandbox.git`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from agent.sandbox.policy import NOT_RUN
from agent.sandbox.refusals import Refusal, RefusalKind
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import CannotStart
from permissions.paths.protected_paths import Protection, protection_of
from permissions.shell.analyze import analyze
from permissions.shell.command_pattern import WORD_END
from permissions.shell.programs.git.tree_changes import (
    ChangesUnknown,
    changed_names,
    split_git,
)
from permissions.shell.syntax import Unparsable

_TIMEOUT_S: Final = 5.0
_PLACES: Final = ("-C", "--git-dir", "--work-tree")


async def protected_changes(
    command: str, cwd: Path, home: Path, programs: ReadingPrograms
) -> tuple[Refusal, ...]:
    """Return the protected names that git would change, as refusals; raises nothing."""
    if "git" not in command:
        return ()
    calls = list(_git_calls(command, cwd, home))
    changes = await asyncio.to_thread(
        lambda: [_find_changes(words, cwd, programs) for words in calls]
    )
    return tuple(
        Refusal(RefusalKind.WRITE, path, NOT_RUN)
        for path in dict.fromkeys(path for paths in changes for path in paths)
    )


def _git_calls(command: str, cwd: Path, home: Path) -> Iterator[list[str]]:
    facts = analyze(command, str(cwd), str(home))
    for one in () if isinstance(facts, Unparsable) else facts:
        for inner in one.with_inner():
            words = [
                one.joined_text.split(WORD_END) for one in inner.deny_forms if one.head == "git"
            ]
            # The first form includes git's own options.
            yield from (one[1:] for one in words[:1])


def _find_changes(words: list[str], cwd: Path, programs: ReadingPrograms) -> list[str]:
    own, subcommand, rest = split_git(words)
    place = [word for word in _location_options(own) if word]

    def ask(arguments: tuple[str, ...], stdin: bytes) -> bytes | None:
        try:
            query = programs.git(cwd, *place, *arguments, stdin=stdin)
            result = run_blocking(query, timeout_s=_TIMEOUT_S)
        except CannotStart:
            return None
        return result.stdout if result.exit_code == 0 else None

    try:
        names = changed_names(subcommand, rest, ask)
    except ChangesUnknown:
        return []
    protected_names = sorted(name for name in names if protection_of(name) is not Protection.NONE)
    answer = ask(("rev-parse", "--show-toplevel"), b"") if protected_names else None
    top = os.fsdecode(answer).removesuffix("\n") if answer else str(cwd)
    return [os.path.join(top, name) for name in protected_names]


def _location_options(own: Sequence[str]) -> Iterator[str]:
    """Yield the options that say where git works, but not those that change settings."""
    for position, word in enumerate(own):
        if word in _PLACES:
            yield from own[position : position + 2]
        elif word.startswith(("--git-dir=", "--work-tree=")):
            yield word
