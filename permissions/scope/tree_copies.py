"""A tree copied over one that is there already: `cp -r a/. b` writes what `a` names.

A file below `b` may be a link that leads out of scope, and a name below `a` a protected one.
"""

from __future__ import annotations

from permissions.decision import Behavior, Reason
from permissions.paths.resolve import Target, resolve_literal
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Floor, Scope, strictest_floor
from permissions.shell.access import AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.effects.file_accesses import created_by
from permissions.shell.program import Creates
from permissions.shell.syntax import Word

MAX_MERGED = 1_000
"""Files that are looked at; a user is asked about more."""

MERGERS = frozenset({"cp", "rsync"})
"""Programs that may do so."""


def tree_copy_floor(scope: Scope, facts: CommandFacts) -> Floor | None:
    """Return the floor for the files that a recursive copy would replace."""
    form = next((form for form in facts.deny_forms if form.head in MERGERS), None)
    if form is None or created_by(form.head, form.joined) is not Creates.COPY:
        return None
    floors: list[Floor | None] = []
    for source, folder in _pairs(scope, facts, whole="T" in _letters(form.spaced)):
        if scope.files.is_dir(source) and scope.files.is_dir(folder):
            floors.append(_merged(scope, source, folder))
    return strictest_floor(floors)


def _letters(spaced: str) -> str:
    options = [word for word in spaced.split() if word.startswith("-")]
    return "".join("T" if word == "--no-target-directory" else word for word in options)


def _pairs(scope: Scope, facts: CommandFacts, *, whole: bool) -> list[tuple[str, str]]:
    """Return each directory that is copied with the one that its files end up in."""
    places = [
        target.lexical
        for access in facts.accesses
        if access.kind is AccessKind.WRITE
        for target in _targets(scope, facts, access.kind, access.path)
    ]
    results: list[tuple[str, str]] = []
    for access in facts.accesses:
        if access.kind is not AccessKind.READ:
            continue
        text = access.path.text
        keeps_name = not (whole or text.endswith(("/.", "/")) or text == ".")
        for source in _targets(scope, facts, access.kind, access.path):
            name = source.lexical.rpartition("/")[2]
            results.extend(
                (source.real, f"{place}/{name}" if keeps_name else place) for place in places
            )
    return results


def _targets(scope: Scope, facts: CommandFacts, kind: AccessKind, path: Word) -> tuple[Target, ...]:
    touch = resolve_access(scope, kind, path, facts.folders)
    return touch.targets if touch else ()


def _merged(scope: Scope, source: str, folder: str) -> Floor | None:
    files = scope.files
    floors: list[Floor | None] = []
    seen = 0
    left = [(source, folder)]
    while left:
        one, other = left.pop()
        names = files.entries(one)
        seen += len(names or ())
        if names is None or seen > MAX_MERGED:
            message = f"writes more files below {folder} than can be looked at"
            return Floor(Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION, message)
        for name in names:
            written = f"{other}/{name}"
            target = resolve_literal(written, written, base="/", files=files)
            floors.append(scope.check_write(target, written))
            if files.is_dir(f"{one}/{name}") and files.is_dir(written):
                left.append((f"{one}/{name}", written))
    return strictest_floor(floors)
