"""Whole directories that a command reads, compared with the rules about single files in them.

`grep -r x .` reads `.env`, too. Only what is plain to see is looked at: files that a rule names and
that are there, and the names in the directory itself. What lies deeper below a bare name is not
found; isolating a program is the sandbox's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from posixpath import normpath

from permissions.decision import Behavior, Reason
from permissions.matching.match_tool import Anchors
from permissions.paths.path_pattern import PathPattern
from permissions.paths.resolve import is_below, relative_to
from permissions.rules.rule_set import Rule, RuleBehavior, RuleSet
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Floor, Scope, Scoped
from permissions.shell.access import HERE, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END
from permissions.shell.effects.recursive_programs import (
    PROGRAMS,
    TreeReading,
    follows_links,
    tree_reading,
)

MAX_RULES = 100
"""Rules about files that are compared with a directory."""

MAX_LOOKED_AT = 500
"""Files among which links are looked for."""

_WILD = frozenset("*?[")


def recursive_read_floor(
    scoped: Scoped, rules: RuleSet, anchors: Anchors, facts: CommandFacts
) -> Floor | None:
    """Ask when a directory that is read as a whole contains a file that a rule is about."""
    reading = _reading(facts)
    if reading is None:
        return None
    scope = scoped.scope
    directories = [
        directory for directory in _directories(scope, facts) if scope.files.is_dir(directory)
    ]
    for behavior in (RuleBehavior.DENY, RuleBehavior.ASK):
        for rule in rules.index(behavior).file_rules[:MAX_RULES]:
            pattern = rule.specifier
            if rule.tool.text != "Read" or not isinstance(pattern, PathPattern):
                continue
            for directory in directories:
                affected = _affected_name(
                    scope, pattern, directory, _places(anchors, rule, behavior), reading
                )
                if affected:
                    return Floor(
                        Behavior.ASK,
                        Reason.UNPARSABLE,
                        f"reads all of {directory}, where {affected} is, which {rule.text} is "
                        "about; leave it out, or name the folders to be read",
                    )
    return None


def may_leave(scoped: Scoped, facts: CommandFacts) -> bool:
    """Could links in a directory that the command goes through lead out of the scope?"""
    for form in facts.deny_forms[:1]:
        if follows_links(form.head, form.joined.split(WORD_END)[1:]):
            scope = scoped.scope
            return any(_leads_out(scope, directory) for directory in _directories(scope, facts))
    return False


def _leads_out(scope: Scope, directory: str) -> bool:
    """Is there a link that leads out, or are there more files than can be looked at?"""
    left = [directory]
    seen = 0
    while left:
        one = left.pop()
        names = scope.files.entries(one)
        seen += len(names or ())
        if names is None or seen > MAX_LOOKED_AT:
            return True
        for name in names:
            path = f"{one}/{name}"
            if scope.files.is_link(path):
                target = scope.resolve(path)
                if target is None or not scope.contains(target):
                    return True
            elif scope.files.is_dir(path):
                left.append(path)
    return False


def _reading(facts: CommandFacts) -> TreeReading | None:
    for form in facts.deny_forms:
        if form.head in PROGRAMS and form.joined:
            # The spellings that follow leave words out.
            return tree_reading(form.head, form.joined.split(WORD_END)[1:])
    return None


def _directories(scope: Scope, facts: CommandFacts) -> Iterator[str]:
    read = [one.path for one in facts.accesses if one.kind is AccessKind.READ] or [HERE]
    for path in read:
        touch = resolve_access(scope, AccessKind.READ, path, facts.directories)
        for target in touch.targets if touch else ():
            yield target.real


def _places(anchors: Anchors, rule: Rule, behavior: RuleBehavior) -> Iterable[str]:
    if not isinstance(rule.specifier, PathPattern):
        return ()
    return anchors.places(rule.specifier.anchor, rule.source, behavior)


def _affected_name(
    scope: Scope, pattern: PathPattern, directory: str, places: Iterable[str], reading: TreeReading
) -> str:
    """Return a file or directory below `folder` that the pattern is about; "" when none is seen."""
    if pattern.floats_for_restrictions:
        last = pattern.last_component
        fitting = (
            name
            for name in scope.files.entries(directory) or ()
            if fnmatchcase(name, last) and _reads(scope, f"{directory}/{name}", reading)
        )
        return next(fitting, "")
    for place in places:
        full = normpath(f"{place}/{pattern.literal_base}")
        below = relative_to(full, directory) if is_below(full, directory) else None
        if below and _is_there(scope, full) and _is_taken(scope, full, below, pattern, reading):
            return below
    return ""


def _is_there(scope: Scope, path: str) -> bool:
    directory, _, name = path.rpartition("/")
    return name in (scope.files.entries(directory or "/") or ())


def _is_taken(
    scope: Scope, full: str, below: str, pattern: PathPattern, reading: TreeReading
) -> bool:
    parents = below.split("/")[:-1]
    if not all(reading.takes(one, is_directory=True) for one in parents):
        return False
    last = pattern.last_component
    return _reads(scope, full, reading, last if _WILD.intersection(last) else "*")


def _reads(scope: Scope, path: str, reading: TreeReading, wanted: str = "*") -> bool:
    """Is the file read, or in the directory one whose name fits what is `wanted`?"""
    is_directory = scope.files.is_dir(path)
    if not reading.takes(path.rpartition("/")[2], is_directory=is_directory):
        return False
    if not is_directory or (wanted == "*" and not reading.included):
        return True
    return any(
        fnmatchcase(name, wanted) and reading.takes(name, is_directory=False)
        for name in scope.files.entries(path) or ()
    )
