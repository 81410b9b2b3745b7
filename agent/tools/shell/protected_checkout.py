"""Which protected names git would change in the work tree, asked of git before the command runs.

Confined, it could not write them, and would stop in the middle of a checkout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.sandbox.policy import NOT_RUN
from agent.sandbox.refusals import Refusal, RefusalKind
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart
from permissions.paths.protected_paths import Protection, protection_of
from permissions.shell.analyse import analyse
from permissions.shell.syntax import Unparsable

_LIMITS: Final = RunLimits(5.0, stderr_bytes=0)
_MAX_REVISIONS: Final = 6
_TO: Final = "HEAD {}"
_SINCE: Final = "HEAD...{}"
_OF: Final = "{}^ {}"
_FORMS: Final = {
    "checkout": _TO,
    "switch": _TO,
    "reset": _TO,
    "read-tree": _TO,
    "merge": _SINCE,
    "pull": _SINCE,
    "rebase": _SINCE,
    "cherry-pick": _OF,
    "revert": _OF,
    "stash": _OF,
}
"""By subcommand, between which trees a revision changes what is checked out."""
_IMPLIED: Final = {
    "merge": "@{upstream}",
    "pull": "@{upstream}",
    "rebase": "@{upstream}",
    "stash": "stash@{0}",
}


async def protected_changes(
    command: str, cwd: Path, home: Path, programs: ReadingPrograms
) -> tuple[Refusal, ...]:
    """Return the protected names that git would change, as refusals; raises nothing.

    What git fetches in the same command is not known before.
    """
    if "git" not in command:
        return ()
    changed: dict[str, None] = {}
    for trees in list(_compared(command, cwd, home))[:_MAX_REVISIONS]:
        options = ("--name-only", "--no-renames", "--relative", "-z", *trees, "--")
        try:
            query = await asyncio.to_thread(programs.git, cwd, "diff", *options)
            listed = await run_program(query, _LIMITS)
        except CannotStart:
            return ()
        if listed.exit_code == 0:
            changed |= dict.fromkeys(listed.stdout.decode("utf-8", "surrogateescape").split("\0"))
    return tuple(
        Refusal(RefusalKind.WRITE, str(cwd / name), NOT_RUN)
        for name in changed
        if name and protection_of(name) is not Protection.NONE
    )


def _compared(command: str, cwd: Path, home: Path) -> Iterator[list[str]]:
    facts = analyse(command, str(cwd), str(home))
    for one in () if isinstance(facts, Unparsable) else facts:
        for inner in one.with_inner():
            for form in inner.deny_forms:
                if form.joined and form.head == "git":
                    yield from _of_git(form.spaced.split()[1:])


def _of_git(words: list[str]) -> Iterator[list[str]]:
    verb = next((word for word in words if word in _FORMS), "")
    rest = words[words.index(verb) + 1 :] if verb else []
    if not verb or (verb == "stash" and not {"pop", "apply"} & set(rest)):
        return
    revisions = [word for word in rest if not word.startswith("-") and word not in _NO_REVISIONS]
    revisions += ["@{-1}"] if "-" in rest else []
    if verb in _IMPLIED and (not revisions or verb == "pull"):
        revisions.append(_IMPLIED[verb])
    for revision in dict.fromkeys(revisions):
        yield _FORMS[verb].format(revision, revision).split()


_NO_REVISIONS: Final = frozenset({"pop", "apply"})
