"""Commands that need their own checks of the disk.

Build tools that run outside, `find` that deletes, and trees that are copied over others.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from permissions.decision import Behavior, Reason
from permissions.paths.protected_paths import OWN_DIRS, OWN_FILES
from permissions.paths.resolve import Target, resolve_literal
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Floor, Scope, Scoped, strictest_floor
from permissions.scope.tree_walk import entries_below
from permissions.shell.access import HERE, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END
from permissions.shell.effects.link_makers import Creates, links_made
from permissions.shell.flow.working_directories import UNKNOWN_DIRECTORY
from permissions.shell.programs.find import changes_found, exec_spans, roots_of
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Word

_OWN = OWN_DIRS | OWN_FILES
_NAMES = frozenset({"-name", "-iname"})
_OTHER = frozenset({"!", "-not", "-o", "-or", ","})
_EXCLUDING = frozenset({"!", "-not", "-prune"})
MAX_MERGED = 1_000
"""Files of a copied tree that are checked; for more files a user is asked."""
MERGERS = frozenset({"cp", "rsync"})
"""Programs that may copy a tree over another one."""


def build_directory_floor(view: Scoped, facts: CommandFacts) -> Floor | None:
    """Return an ask if a build tool runs where `cd` led out of the working directories."""
    for one in facts.with_inner():
        program = next(
            (form.head for form in one.deny_forms if program_named(form.head).builds), None
        )
        if program is None or one.is_read_only:
            continue
        scope = view.scope
        if one.directories == {scope.launch}:
            continue
        for directory in sorted(one.directories - {UNKNOWN_DIRECTORY}):
            target = scope.resolve(directory)
            if target is None or not scope.contains(target):
                return Floor(
                    Behavior.ASK,
                    Reason.SCOPE_BOUNDS_VIOLATION,
                    f"runs {program} in {directory}, outside the working directories",
                )
    return None


def find_target_floor(view: Scoped, facts: CommandFacts) -> Floor | None:
    """Return the floor when find may change the agent's own settings."""
    form = next(
        (form for form in facts.deny_forms if form.head == "find" and form.joined_text), None
    )
    words = [Word(text, text) for text in form.joined_text.split(WORD_END)[1:]] if form else []
    if not changes_found(words):
        return None
    scope = view.scope
    tests = _tests(words)
    for path in _own_settings(scope, words, facts):
        if not _leaves_out(tests) and _is_met(scope, path, tests):
            return scope.check_write(resolve_literal(path, path, base="/", files=scope.files), path)
    return None


def _tests(words: list[Word]) -> list[str]:
    """Return the words outside of the commands that find runs."""
    inside = {place for start, end in exec_spans(words) for place in range(start, end + 1)}
    return [word.plain for place, word in enumerate(words) if place not in inside]


def _own_settings(scope: Scope, words: list[Word], facts: CommandFacts) -> Iterator[str]:
    for root in roots_of(words) or [HERE]:
        for target in _targets(scope, facts, AccessKind.READ, root):
            names = scope.files.entries(target.real) or ()
            yield from (f"{target.real}/{name}" for name in names if name.casefold() in _OWN)


def _leaves_out(tests: list[str]) -> bool:
    """Whether the tests certainly leave out hidden directories, or all that are not empty."""
    excludes = not _EXCLUDING.isdisjoint(tests)
    return "-empty" in tests or (excludes and any("/.*" in one or ".agent" in one for one in tests))


def _is_met(scope: Scope, own: str, tests: list[str]) -> bool:
    """Whether a name below the settings may match every pattern that all results must match."""
    entries = [] if "-maxdepth" in tests else entries_below(scope.files, own, MAX_MERGED) or []
    conditions = [] if not _OTHER.isdisjoint(tests) else pairwise(tests)
    patterns = [value.casefold() for test, value in conditions if test in _NAMES]
    for path in (own, *entries):
        name = path.rpartition("/")[2].casefold()
        is_kind = "f" not in tests or not scope.files.is_dir(path)
        if is_kind and all(fnmatchcase(name, pattern) for pattern in patterns):
            return True
    return False


def tree_copy_floor(scope: Scope, facts: CommandFacts) -> Floor | None:
    """Return the floor for the files that a recursive copy would replace."""
    form = next((form for form in facts.deny_forms if form.head in MERGERS), None)
    if form is None or links_made(form.head, form.joined_text) is not Creates.COPY:
        return None
    is_whole = any(
        word == "--no-target-directory" or (word[:1] == "-" != word[1:2] and "T" in word)
        for word in form.spaced_text.split()
    )
    floors = [
        _merge_floor(scope, source, directory)
        for source, directory in _pairs(scope, facts, whole=is_whole)
        if scope.files.is_dir(source) and scope.files.is_dir(directory)
    ]
    return strictest_floor(floors)


def _pairs(scope: Scope, facts: CommandFacts, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield each directory that is copied, with the destination of its files."""
    places = [target.lexical for _, target in _touched_targets(scope, facts, AccessKind.WRITE)]
    for word, source in _touched_targets(scope, facts, AccessKind.READ):
        text = word.text
        has_source_name = not (whole or text.endswith(("/.", "/")) or text == ".")
        name = f"/{source.lexical.rpartition('/')[2]}" if has_source_name else ""
        yield from ((source.real, f"{place}{name}") for place in places)


def _touched_targets(
    scope: Scope, facts: CommandFacts, kind: AccessKind
) -> Iterator[tuple[Word, Target]]:
    for access in facts.accesses:
        if access.kind is kind:
            for target in _targets(scope, facts, kind, access.path):
                yield access.path, target


def _merge_floor(scope: Scope, source: str, directory: str) -> Floor | None:
    entries = entries_below(scope.files, source, MAX_MERGED)
    if entries is None:
        message = f"writes more files below {directory} than can be checked"
        return Floor(Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION, message)
    paths = [f"{directory}{path[len(source) :]}" for path in entries]
    return strictest_floor(
        scope.check_write(resolve_literal(path, path, base="/", files=scope.files), path)
        for path in paths
    )


def _targets(scope: Scope, facts: CommandFacts, kind: AccessKind, path: Word) -> tuple[Target, ...]:
    touch = resolve_access(scope, kind, path, facts.directories)
    return touch.targets if touch else ()
