"""Checks directories that a command reads as a whole against rules about files in them.

`grep -r x .` reads `.env`, too. All files of a small directory are checked; of a large one, its
direct entries and the paths that a rule names literally. Isolating a program is the task of the
sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import normpath

from permissions.base.text.late_pattern import compile_late
from permissions.decision import Behavior, Reason
from permissions.matching.match_tool import Anchors, RuleSubject, first_match
from permissions.paths.path_pattern import PathPattern
from permissions.paths.resolve import Target, is_below, resolve_literal
from permissions.rules.rule_set import Rule, RuleBehavior, RuleSet
from permissions.scope.resolve_access import resolve_access
from permissions.scope.scope import Floor, Scope, Scoped
from permissions.scope.tree_walk import entries_below
from permissions.shell.access import HERE, AccessKind, names
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END
from permissions.shell.programs.registry import program_named
from permissions.shell.rule_spellings import Form

MAX_RULES = 100
"""Maximum number of file rules that are compared with a directory."""
MAX_LOOKED_AT = 500
"""Maximum number of files of a directory that are checked one by one."""

_READERS = {
    "grep egrep fgrep zgrep": r"-[A-Za-z]*[rR]|--recursive|--dereference-rec|recurse$",
    "rg ag ack": r"(?!--files$)",
    "tar gtar bsdtar": r"-?[A-Za-z]*[cru][A-Za-z]*$|--create|--append|--update",
    "cp": r"-[A-Za-z]*[rRa]|--recursive|--archive",
    "rsync scp zip diff": r"-[A-Za-z]*[ra]|--recursive|--archive|--recurse-paths",
    "find": r"-(?:exec|execdir|ok|okdir)$",
    "7z 7za 7zr": r"[au]$",
}
"""By program: a pattern of the words with which it reads a whole directory."""
_WHOLE = {name: compile_late(one) for many, one in _READERS.items() for name in many.split()}
_HIDING = names("rg ag ack")
_SHOWS_HIDDEN = compile_late(r"-uu|--hidden|--unrestricted|\.$|--?i?g")
"""Options with which hidden files are read, or may be read (patterns)."""


def recursive_read_floor(
    view: Scoped, rules: RuleSet, anchors: Anchors, facts: CommandFacts, *, is_confined: bool
) -> Floor | None:
    """Return an ask if a directory that is read as a whole contains a file that a rule matches.

    Files that the command excludes by its own options are not considered.

    Args:
        is_confined: The kernel hides files of deny rules in the working directories.
    """
    skips_hidden = _skips_hidden(facts)
    scope = view.scope
    for directory in _directories(scope, facts) if skips_hidden is not None else ():
        is_hidden = is_confined and any(is_below(directory, root) for root in scope.roots)
        behaviors = _ASK if is_hidden else _RESTRICTIONS
        for path in _candidates(scope, rules, anchors, directory):
            relative_path = path[len(directory) :].lstrip("/")
            if skips_hidden and "/." in f"/{relative_path}":
                continue
            target = resolve_literal(path, path, base="/", files=scope.files)
            call = RuleSubject("Read", {}, target)
            rule = _first_file_rule(rules, behaviors, call, anchors)
            if rule is not None:
                return _asks(directory, relative_path, rule.text)
    return None


def _first_file_rule(
    rules: RuleSet, behaviors: Sequence[RuleBehavior], call: RuleSubject, anchors: Anchors
) -> Rule | None:
    matches = (first_match(rules, behavior, call, anchors) for behavior in behaviors)
    return next((one for one in matches if one and isinstance(one.specifier, PathPattern)), None)


_ASK = (RuleBehavior.ASK,)
_RESTRICTIONS = (RuleBehavior.DENY, RuleBehavior.ASK)


def _spelled_out(rule: Rule, behavior: RuleBehavior, anchors: Anchors) -> list[str]:
    """Return the paths that a rule names literally, without its wildcards."""
    pattern = rule.specifier
    if not isinstance(pattern, PathPattern):
        return []
    places = anchors.places(pattern.anchor, rule.source, behavior, pattern.parents)
    return [normpath(f"{place}/{pattern.literal_base}") for place in places]


def _skips_hidden(facts: CommandFacts) -> bool | None:
    """Whether a command leaves out hidden files; None if it reads no directory as a whole."""
    form = next((one for one in facts.deny_forms if one.head in _WHOLE and one.joined_text), None)
    if form is None:
        return None
    words = form.joined_text.split(WORD_END)[1:]
    tests = words[:1] if form.head.startswith("7z") else words
    if not any(map(_WHOLE[form.head].match, tests)) or "--files" in words:
        return None
    return form.head in _HIDING and not any(map(_SHOWS_HIDDEN.match, words))


def _asks(directory: str, path: str, rule: str) -> Floor:
    return Floor(
        Behavior.ASK,
        Reason.UNPARSABLE,
        f"reads all of {directory}, where {path} is, which {rule} is about; name the "
        "directories to be read",
    )


def _candidates(scope: Scope, rules: RuleSet, anchors: Anchors, directory: str) -> list[str]:
    """Return the files below a directory that are checked."""
    files = scope.files
    paths = entries_below(files, directory, MAX_LOOKED_AT)
    if paths is None:
        paths = [f"{directory}/{name}" for name in files.entries(directory) or ()]
        for behavior in _RESTRICTIONS:
            for rule in rules.index(behavior).file_rules[:MAX_RULES]:
                exact_paths = _spelled_out(rule, behavior, anchors)
                paths.extend(path for path in exact_paths if is_below(path, directory))
    return [path for path in paths if not files.is_dir(path) and not files.is_link(path)]


def _directories(scope: Scope, facts: CommandFacts) -> Iterator[str]:
    read = [one.path for one in facts.accesses if one.kind is AccessKind.READ] or [HERE]
    for path in read:
        touch = resolve_access(scope, AccessKind.READ, path, facts.directories)
        for target in touch.targets if touch else ():
            if scope.files.is_dir(target.real):
                yield target.real


def may_leave(view: Scoped, facts: CommandFacts) -> bool:
    """Return whether links that the command follows in a directory could lead out of the scope."""
    scope = view.scope
    return any(
        links is None or not all(one is not None and scope.contains(one) for one in links)
        for links in _links_followed(view, facts)
    )


def process_floor(view: Scoped, facts: CommandFacts) -> Floor | None:
    """Return an ask if a link that the command follows leads to a place of one process.

    A rule about the command permits reads elsewhere, but not there; large directories are not
    searched for that.
    """
    for links in _links_followed(view, facts):
        if any(map(_leads_to_process, links or ())):
            text = "goes through a link that leads to what belongs to a process"
            return Floor(Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION, text)
    return None


def _leads_to_process(target: Target | None) -> bool:
    return target is not None and (target.is_of_process or is_below("/proc/self", target.real))


def _links_followed(view: Scoped, facts: CommandFacts) -> Iterator[list[Target | None] | None]:
    """Yield the targets of the links in each directory where links are followed; None if
    unknown."""
    if not any(map(_follows_links, facts.deny_forms[:1])):
        return
    scope = view.scope
    for directory in _directories(scope, facts):
        entries = entries_below(scope.files, directory, MAX_LOOKED_AT)
        yield (
            None
            if entries is None
            else [scope.resolve(path) for path in entries if scope.files.is_link(path)]
        )


def _follows_links(form: Form) -> bool:
    short, *long = program_named(form.head).follows_links.split() or [""]
    words = form.joined_text.split(WORD_END)[1:]
    follows = re.compile(rf"-[A-Za-z]*{short[1:]}") if short else None
    return follows is not None and any(word in long or follows.match(word) for word in words)
