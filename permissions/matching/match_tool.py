"""Finds the rules that match a call of a tool other than Bash, or one file access.

An Edit rule governs every editing tool, an Edit allow of a path also grants reading, a Read deny
also stops editing; a path rule on Write, MultiEdit, NotebookEdit, Glob or Grep governs that tool
alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.context import PermissionContext
from permissions.matching.match_domain import matches_host
from permissions.paths.file_view import FileView
from permissions.paths.match_path import (
    covers_something_below,
    fits_everything,
    matches_all,
    matches_any,
)
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.paths.resolve import Target, absolute, is_below, relative_to
from permissions.rules.grammar import (
    DomainPattern,
    NamePattern,
    ParameterPattern,
    RuleBehavior,
    WholeTool,
)
from permissions.rules.rule_set import (
    SOURCE_ORDER,
    PathGroup,
    PlacedRule,
    Rule,
    RuleIndex,
    RuleSet,
    RuleSource,
)
from permissions.shell.command_pattern import BashPattern
from permissions.tool_names import EDIT_TOOLS, READ_TOOLS

ORCHESTRATED: Final = "@orchestration"
"""Names any workflow while orchestration mode is on; no script can have that name."""


class RuleSubject(Struct, frozen=True):
    """A call as rules see it."""

    tool: str
    """Canonical name."""
    tool_input: Mapping[str, object]
    target: Target | None = None
    host: str | None = None
    takes_tree: bool = False
    """Whether the target is affected with everything below it (`rm -r`, `mv`)."""
    is_access: bool = False
    """Whether it is a file access of another tool, as a call of the tool whose rules apply."""


class Anchors:
    """The directories that path patterns are relative to, each as given and canonical."""

    def __init__(
        self, context: PermissionContext, cwd: str | None = None, files: FileView | None = None
    ) -> None:
        """Nothing is resolved yet; `cwd` is the shell's directory when it moved."""
        self._context = context
        self._cwd = cwd
        self._files = context.files if files is None else files
        self._spelling_cache: dict[str, tuple[str, ...]] = {}
        self._prefix_cache: dict[tuple[str, str], tuple[str, ...] | None] = {}
        self._places: dict[tuple[Anchor, RuleSource, RuleBehavior, int], tuple[str, ...]] = {}

    def places(
        self, anchor: Anchor, source: RuleSource, behavior: RuleBehavior, parents: int | None = None
    ) -> tuple[str, ...]:
        """Return the directories that a pattern with `anchor` in a rule of `source` is relative to,
        or those so many directories above them."""
        key = (anchor, source, behavior, parents or 0)
        result = self._places.get(key)
        if result is None:
            result = self._resolve(anchor, source, behavior)
            if parents:
                above = "/.." * parents
                result = tuple(dict.fromkeys(absolute(f"{place}{above}") for place in result))
            self._places[key] = result
        return result

    def relative_prefixes(self, path: str, place: str) -> tuple[str, ...] | None:
        """Return a path relative to a place, followed by its parent directories below that place.

        () for the place itself, None for a path outside.
        """
        key = (path, place)
        if key not in self._prefix_cache:
            relative_path = relative_to(path, place)
            prefixes: list[str] = []
            while relative_path:
                prefixes.append(relative_path)
                relative_path = relative_path.rpartition("/")[0]
            self._prefix_cache[key] = None if relative_path is None else tuple(prefixes)
        return self._prefix_cache[key]

    def _resolve(
        self, anchor: Anchor, source: RuleSource, behavior: RuleBehavior
    ) -> tuple[str, ...]:
        match anchor:
            case Anchor.ROOT:
                return ("/",)
            case Anchor.HOME:
                return self._spellings(self._context.home)
            case Anchor.SOURCE:
                return self._spellings(self._context.anchor(source))
            case Anchor.CURRENT:
                launch = self._spellings(self._context.launch_dir)
                if behavior is RuleBehavior.ALLOW or self._cwd is None:
                    return launch
                # Deny and ask patterns start in the launch directory and in the shell's.
                return tuple(dict.fromkeys((*launch, *self._spellings(self._cwd))))

    def _spellings(self, directory: Path | str) -> tuple[str, ...]:
        text = str(directory)
        if text not in self._spelling_cache:
            whole = absolute(text)
            real = self._files.realpath(whole)
            alone = real is None or real == whole
            self._spelling_cache[text] = (whole,) if alone else (whole, real or whole)
        return self._spelling_cache[text]


def first_match(
    rules: RuleSet, behavior: RuleBehavior, call: RuleSubject, anchors: Anchors
) -> Rule | None:
    """Return the first rule of `behavior`, in order of source, that matches `call`."""
    index = rules.index(behavior)
    best: Rule | None = None
    for governor in _governors(behavior, call.tool):
        if not index.by_glob and governor not in index.paths:
            continue
        for rule in _candidates(index, behavior, governor, call, anchors):
            if best is not None and SOURCE_ORDER[rule.source] >= SOURCE_ORDER[best.source]:
                break
            if governor != call.tool and not _crosses(rule, governor, call.tool):
                continue
            if rule_matches(rule, call, anchors):
                best = rule
                break
    return best


def _candidates(
    index: RuleIndex, behavior: RuleBehavior, governor: str, call: RuleSubject, anchors: Anchors
) -> Iterable[Rule]:
    """Return the rules of `governor` that may match `call`, in order of source."""
    results: list[Rule] = []
    by_path = index.paths.get(governor)
    if by_path is not None:
        placed_rules = list(by_path.open)
        # Without a target only patterns that match every path apply, which are in `open`.
        if call.target is not None:
            for name in _names(call.target) if by_path.by_name else ():
                placed_rules.extend(by_path.by_name.get(name, ()))
            for group in by_path.groups:
                _add_group(placed_rules, group, behavior, call, anchors)
            placed_rules.sort(key=itemgetter(0))
        results = [rule for _, rule in placed_rules] if placed_rules else []
    globs = index.globs_for(governor) if index.by_glob else ()
    return sorted([*results, *globs], key=_rank) if globs else results


def _names(target: Target) -> set[str]:
    """Return the names in a path's spellings and, as `*.ext`, their extensions."""
    results = {name for spelling in target.spellings for name in spelling.split("/")}
    endings = {f"*.{name.rpartition('.')[2]}" for name in results if "." in name}
    return results | endings


def _add_group(
    placed_rules: list[PlacedRule],
    group: PathGroup,
    behavior: RuleBehavior,
    call: RuleSubject,
    anchors: Anchors,
) -> None:
    """Add the rules of a group that may match the call's target, some of them twice."""
    spellings = () if call.target is None else call.target.spellings
    by_prefix = group.by_prefix
    for place in anchors.places(group.anchor, group.source, behavior, group.parents):
        for spelling in spellings:
            prefixes = anchors.relative_prefixes(spelling, place)
            if prefixes is not None:
                if not by_prefix.keys().isdisjoint(prefixes):
                    for prefix in prefixes:
                        placed_rules.extend(by_prefix.get(prefix, ()))
                if call.takes_tree:
                    placed_rules.extend(group.inside(prefixes[0] if prefixes else ""))
            elif call.takes_tree and is_below(place, spelling):
                placed_rules.extend(group.by_base)


def _rank(rule: Rule) -> int:
    return SOURCE_ORDER[rule.source]


def rule_matches(rule: Rule, call: RuleSubject, anchors: Anchors) -> bool:
    """Return whether `rule` matches `call`; the tool's name was compared already."""
    specifier = rule.specifier
    match specifier:
        case WholeTool():
            return not (rule.is_for_tool_only and call.is_access)
        case PathPattern():
            return _matches_path(rule, specifier, call, anchors)
        case DomainPattern():
            return call.host is not None and matches_host(specifier, call.host)
        case NamePattern():
            return any(map(specifier.fits, names_of(call)))
        case ParameterPattern():
            return matches_parameter(specifier, call.tool_input)
        case BashPattern():
            return False


def matches_parameter(specifier: ParameterPattern, tool_input: Mapping[str, object]) -> bool:
    """Return whether the call has the parameter with a matching value; an omitted one never
    matches."""
    value = tool_input.get(specifier.parameter)
    if isinstance(value, bool | int | float):
        return specifier.value.matches(json.dumps(value))
    return isinstance(value, str) and specifier.value.matches(value)


def names_of(call: RuleSubject) -> Iterator[str]:
    """Yield the texts that a name pattern is compared with."""
    if call.tool == "Agent":
        kind = call.tool_input.get("subagent_type")
        kind = kind if isinstance(kind, str) and kind else "general-purpose"
        # As the catalog looks them up: files of other programs write `Explore`.
        yield from (kind, kind.lower(), kind.capitalize())
        return
    if call.tool == "Workflow":
        # `name@hash`: a stored rule names the script that the user saw, a written one need not.
        workflow = call.tool_input.get("workflow")
        if isinstance(workflow, str):
            yield from (workflow, workflow.partition("@")[0])
            if call.tool_input.get("orchestration") is True:
                yield ORCHESTRATED
        return
    name = call.tool_input.get("skill", call.tool_input.get("command"))
    if isinstance(name, str):
        arguments = call.tool_input.get("args")
        yield name.removeprefix("/")
        if isinstance(arguments, str) and arguments:
            yield f"{name.removeprefix('/')} {arguments}"


def _matches_path(rule: Rule, pattern: PathPattern, call: RuleSubject, anchors: Anchors) -> bool:
    if call.target is None:
        # The target is unknown, but some patterns match every path.
        return rule.behavior is not RuleBehavior.ALLOW and fits_everything(pattern)
    places = anchors.places(pattern.anchor, rule.source, rule.behavior, pattern.parents)
    if rule.behavior is RuleBehavior.ALLOW:
        return matches_all(pattern, call.target, places)
    if matches_any(pattern, call.target, places):
        return True
    return call.takes_tree and covers_something_below(pattern, call.target, places)


@lru_cache(maxsize=256)
def _governors(behavior: RuleBehavior, tool: str) -> tuple[str, ...]:
    if tool in EDIT_TOOLS:
        governors = (tool,) if tool == "Edit" else (tool, "Edit")
        return (*governors, "Read") if behavior is RuleBehavior.DENY else governors
    if tool in READ_TOOLS or tool == "Cd":
        governors = (tool,) if tool == "Read" else (tool, "Read")
        return (*governors, "Edit") if behavior is RuleBehavior.ALLOW else governors
    return (tool,)


def _crosses(rule: Rule, governor: str, tool: str) -> bool:
    """Whether a rule written for `governor` applies to `tool`."""
    if rule.is_for_tool_only and governor == "Read":
        return False
    # A glob such as `*` or a parameter is about the tool that it names, nothing else.
    if rule.tool.glob is not None or isinstance(rule.specifier, ParameterPattern):
        return False
    # `Read` as a whole tool concerns reading; it does not apply to a path that is edited. `Edit` as
    # a whole tool names no file that may be read.
    crosses_kinds = (governor == "Read") == (tool in EDIT_TOOLS)
    return not (isinstance(rule.specifier, WholeTool) and crosses_kinds)
