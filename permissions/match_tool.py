"""Which rules are about a call of a tool other than Bash, or about one file access.

An Edit rule governs every editing tool, an Edit allow also grants reading, a Read deny also stops
editing; a path rule on Write, MultiEdit, NotebookEdit, Glob or Grep governs that tool alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from permissions.bash_pattern import BashPattern
from permissions.context import PermissionContext
from permissions.files import FileView
from permissions.grammar import (
    Anchor,
    DomainPattern,
    NamePattern,
    ParameterPattern,
    PathPattern,
    RuleBehavior,
    WholeTool,
)
from permissions.match_domain import matches_host
from permissions.match_path import (
    covers_something_below,
    fits_everything,
    matches_all,
    matches_any,
)
from permissions.paths import Target, relative_to
from permissions.rule_set import SOURCE_ORDER, Rule, RuleIndex, RuleSet, RuleSource
from permissions.tools import EDIT_TOOLS, READ_TOOLS


@dataclass(frozen=True, slots=True)
class Call:
    """A call as rules see it."""

    tool: str
    """Canonical name."""
    tool_input: Mapping[str, object]
    target: Target | None = None
    host: str | None = None
    takes_tree: bool = False
    """A folder is meant with everything in it (`rm -r`, `mv`)."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """Where path patterns start, each place in its spellings (as given, and canonical)."""

    by_source: Mapping[RuleSource, tuple[str, ...]]
    home: tuple[str, ...]
    launch: tuple[str, ...]
    current: tuple[str, ...]
    """The launch folder and the shell's folder: where deny and ask patterns start."""

    @classmethod
    def of(cls, context: PermissionContext, cwd: str | None = None) -> Anchors:
        """Resolve the places of `context`; `cwd` is the shell's folder when it moved."""
        cache: dict[str, tuple[str, ...]] = {}

        def spelled(folder: Path | str) -> tuple[str, ...]:
            text = str(folder)
            if text not in cache:
                cache[text] = _spellings(text, context.files)
            return cache[text]

        launch = spelled(context.launch_dir)
        return cls(
            by_source={source: spelled(context.anchor(source)) for source in RuleSource},
            home=spelled(context.home),
            launch=launch,
            current=launch if cwd is None else tuple(dict.fromkeys((*launch, *spelled(cwd)))),
        )

    def places(self, anchor: Anchor, source: RuleSource, behavior: RuleBehavior) -> tuple[str, ...]:
        """Return where a pattern with `anchor` in a rule of `source` starts."""
        match anchor:
            case Anchor.ROOT:
                return ("/",)
            case Anchor.HOME:
                return self.home
            case Anchor.SOURCE:
                return self.by_source[source]
            case Anchor.CURRENT:
                return self.launch if behavior is RuleBehavior.ALLOW else self.current


def _spellings(folder: str, files: FileView) -> tuple[str, ...]:
    absolute = os.path.abspath(folder)
    real = files.realpath(absolute)
    return (absolute,) if real is None or real == absolute else (absolute, real)


def first_match(
    rules: RuleSet, behavior: RuleBehavior, call: Call, anchors: Anchors
) -> Rule | None:
    """Return the first rule of `behavior`, in order of source, that is about `call`."""
    index = rules.index(behavior)
    best: Rule | None = None
    for governor in _governors(behavior, call.tool):
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
    index: RuleIndex, behavior: RuleBehavior, governor: str, call: Call, anchors: Anchors
) -> Iterable[Rule]:
    """Return the rules of `governor` that may be about `call`, in order of source."""
    by_path = index.paths.get(governor)
    if by_path is None or call.target is None or call.takes_tree or index.has_glob_for(governor):
        return index.for_tool(governor)
    found = list(by_path.open)
    spellings = call.target.spellings
    for group in by_path.groups:
        places = anchors.places(group.anchor, group.source, behavior)
        below = {relative_to(spelling, place) for spelling in spellings for place in places}
        for first in {path.partition("/")[0] for path in below if path}:
            found.extend(group.by_first.get(first, ()))
    found.sort(key=_place)
    return [rule for _, rule in found]


def _place(found: tuple[int, Rule]) -> int:
    return found[0]


def rule_matches(rule: Rule, call: Call, anchors: Anchors) -> bool:
    """Is `rule` about `call`? The tool's name was compared already."""
    specifier = rule.specifier
    match specifier:
        case WholeTool():
            return True
        case PathPattern():
            return _matches_path(rule, specifier, call, anchors)
        case DomainPattern():
            return call.host is not None and matches_host(specifier, call.host)
        case NamePattern():
            return any(
                specifier.pattern.matches(name) or name == specifier.bare for name in names_of(call)
            )
        case ParameterPattern():
            return matches_parameter(specifier, call.tool_input)
        case BashPattern():
            return False


def matches_parameter(specifier: ParameterPattern, tool_input: Mapping[str, object]) -> bool:
    """Has the call the parameter, with a value that fits? An omitted one never fits."""
    value = tool_input.get(specifier.parameter)
    if isinstance(value, bool | int | float):
        return specifier.value.matches(json.dumps(value))
    return isinstance(value, str) and specifier.value.matches(value)


def names_of(call: Call) -> Iterator[str]:
    """Yield the texts that a name pattern is compared with."""
    if call.tool == "Agent":
        kind = call.tool_input.get("subagent_type")
        yield kind if isinstance(kind, str) and kind else "general-purpose"
        return
    name = call.tool_input.get("skill", call.tool_input.get("command"))
    if isinstance(name, str):
        arguments = call.tool_input.get("args")
        yield name.removeprefix("/")
        if isinstance(arguments, str) and arguments:
            yield f"{name.removeprefix('/')} {arguments}"


def _matches_path(rule: Rule, pattern: PathPattern, call: Call, anchors: Anchors) -> bool:
    if call.target is None:
        # Where it leads is not known, but there are patterns that nothing escapes.
        return rule.behavior is not RuleBehavior.ALLOW and fits_everything(pattern)
    places = anchors.places(pattern.anchor, rule.source, rule.behavior)
    if rule.behavior is RuleBehavior.ALLOW:
        return matches_all(pattern, call.target, places)
    if matches_any(pattern, call.target, places):
        return True
    return call.takes_tree and covers_something_below(pattern, call.target, places)


def _governors(behavior: RuleBehavior, tool: str) -> tuple[str, ...]:
    if tool in EDIT_TOOLS:
        governors = (tool,) if tool == "Edit" else (tool, "Edit")
        return (*governors, "Read") if behavior is RuleBehavior.DENY else governors
    if tool in READ_TOOLS or tool == "Cd":
        governors = (tool,) if tool == "Read" else (tool, "Read")
        return (*governors, "Edit") if behavior is RuleBehavior.ALLOW else governors
    return (tool,)


def _crosses(rule: Rule, governor: str, tool: str) -> bool:
    """Does a rule written for `governor` say something about `tool`?"""
    # A glob such as `*` or a parameter is about the tool that it names, nothing else.
    if rule.tool.glob is not None or isinstance(rule.specifier, ParameterPattern):
        return False
    # `Read` as a whole tool hides reading; it says nothing about a path that is edited.
    return not (isinstance(rule.specifier, WholeTool) and governor == "Read" and tool in EDIT_TOOLS)
