"""Rules as data: their six sources, how settings hand them over, and the indexed set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from permissions.bash_pattern import BashPattern
from permissions.decision import DecisionWarning, RuleRef, WarningType
from permissions.grammar import (
    Anchor,
    MalformedRule,
    ParameterPattern,
    PathPattern,
    RuleBehavior,
    Specifier,
    ToolPattern,
    WholeTool,
    parse_rule,
)
from permissions.match_path import first_component
from permissions.tools import EDIT_TOOLS, KNOWN_TOOLS

__all__ = [
    "Rule",
    "RuleBehavior",
    "RuleExamples",
    "RuleSet",
    "RuleSource",
    "RuleText",
]


class RuleSource(StrEnum):
    """Where a rule comes from, in priority order."""

    POLICY = "policySettings"
    PROJECT = "projectSettings"
    LOCAL = "localSettings"
    USER = "userSettings"
    CLI = "cliArg"
    SESSION = "session"


SOURCE_ORDER = {source: index for index, source in enumerate(RuleSource)}
"""Rank of a source; 0 is asked first."""


@dataclass(frozen=True, slots=True)
class RuleExamples:
    """Calls that a rule promises to match, or not to; Bash commands, paths or whole calls."""

    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule as settings hand it over, not yet read."""

    text: str
    behavior: RuleBehavior
    source: RuleSource
    file: str | None = None
    line: int | None = None
    examples: RuleExamples | None = None
    invalid: str | None = None
    """Set when the entry was no string: why; `text` is then its JSON."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that counts."""

    text: str
    behavior: RuleBehavior
    source: RuleSource
    file: str | None
    line: int | None
    tool: ToolPattern
    specifier: Specifier
    is_cap: bool = False
    """A deny or ask that could not be read: it asks about its whole tool instead."""
    examples: RuleExamples | None = None

    @property
    def ref(self) -> RuleRef:
        """Return the reference shown to people."""
        return RuleRef(self.text, str(self.source), self.file, self.line)

    @property
    def is_tool_wide(self) -> bool:
        """Does the rule cover every call of its tool?"""
        return isinstance(self.specifier, WholeTool)


@dataclass(frozen=True, slots=True)
class PathGroup:
    """Rules whose path patterns start at one place and name what comes first below it."""

    anchor: Anchor
    source: RuleSource
    """Whose `/x` it is; of the others any source will do."""
    by_first: Mapping[str, tuple[tuple[int, Rule], ...]]


@dataclass(frozen=True, slots=True)
class PathIndex:
    """The rules of one tool; the number is the place in order of source."""

    open: tuple[tuple[int, Rule], ...]
    """Rules that may be about any path, or that are not about paths."""
    groups: tuple[PathGroup, ...]


@dataclass(frozen=True, slots=True)
class RuleIndex:
    """The rules of one behaviour, found by tool and, for Bash, by program."""

    by_tool: Mapping[str, tuple[Rule, ...]]
    """Rules with a literal tool name, in order of source."""
    by_glob: tuple[Rule, ...]
    """Rules with a wildcard in the tool name, `mcp__server` included."""
    paths: Mapping[str, PathIndex]
    """The rules of `by_tool` again, found by where a path leads."""
    bash_by_head: Mapping[str, tuple[tuple[int, Rule], ...]]
    """Bash patterns whose program is literal; the number is the place in order of source."""
    bash_open: tuple[tuple[int, Rule], ...]
    """Other Bash rules: whole tool, parameter, program with a wildcard."""
    has_command_rules: bool
    """Is there a Bash rule about what is run, not only about a parameter?"""

    def has_glob_for(self, tool: str) -> bool:
        """Is there a rule whose tool name has a wildcard that fits `tool`?"""
        return any(rule.tool.matches(tool) for rule in self.by_glob)

    def for_tool(self, tool: str) -> tuple[Rule, ...]:
        """Return the rules that may be about a call of the canonical name `tool`, in order."""
        exact = self.by_tool.get(tool, ())
        globs = tuple(rule for rule in self.by_glob if rule.tool.matches(tool))
        if not globs:
            return exact
        return tuple(sorted((*exact, *globs), key=_rank))

    def for_program(self, program: str) -> list[tuple[int, Rule]]:
        """Return Bash rules that could be about `program` with their places, not sorted."""
        return [*self.bash_by_head.get(program, ()), *self.bash_open]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules that count, in order of source, and what was wrong with the others."""

    rules: tuple[Rule, ...] = ()
    warnings: tuple[DecisionWarning, ...] = ()
    texts: tuple[RuleText, ...] = ()
    """What the set was built from."""
    indexes: Mapping[RuleBehavior, RuleIndex] = field(default_factory=dict, compare=False)

    @classmethod
    def build(cls, entries: Iterable[RuleText]) -> tuple[RuleSet, tuple[DecisionWarning, ...]]:
        """Read rules of all sources. Never raises.

        A bad allow is left out; a bad deny or ask whose tool is known asks about that whole
        tool. Returns the set and one warning per rule that was not understood.
        """
        texts = tuple(sorted(entries, key=lambda entry: SOURCE_ORDER[entry.source]))
        rules: list[Rule] = []
        warnings: list[DecisionWarning] = []
        for entry in texts:
            rule, found = _read(entry)
            warnings.extend(found)
            if rule is not None:
                rules.append(rule)
        return cls._indexed(tuple(rules), tuple(warnings), texts), tuple(warnings)

    def with_rules(self, entries: Iterable[RuleText]) -> RuleSet:
        """Return a set that has these rules as well."""
        return RuleSet.build((*self.texts, *entries))[0]

    def only(self, rules: Iterable[Rule]) -> RuleSet:
        """Return a set of just these rules of this one, its warnings kept."""
        return self._indexed(tuple(rules), self.warnings, self.texts)

    def index(self, behavior: RuleBehavior) -> RuleIndex:
        """Return the rules of one behaviour."""
        return self.indexes.get(behavior, _EMPTY_INDEX)

    @classmethod
    def _indexed(
        cls,
        rules: tuple[Rule, ...],
        warnings: tuple[DecisionWarning, ...],
        texts: tuple[RuleText, ...],
    ) -> RuleSet:
        indexes = {
            behavior: _index([rule for rule in rules if rule.behavior is behavior])
            for behavior in RuleBehavior
        }
        return cls(rules, warnings, texts, indexes)


_EMPTY_INDEX = RuleIndex({}, (), {}, {}, (), False)


def _rank(rule: Rule) -> int:
    return SOURCE_ORDER[rule.source]


def _index(rules: list[Rule]) -> RuleIndex:
    by_tool: dict[str, list[Rule]] = {}
    globs: list[Rule] = []
    by_head: dict[str, list[tuple[int, Rule]]] = {}
    bash_open: list[tuple[int, Rule]] = []
    for place, rule in enumerate(rules):
        if rule.tool.glob is not None:
            globs.append(rule)
        else:
            by_tool.setdefault(rule.tool.text, []).append(rule)
        if not rule.tool.matches("Bash"):
            continue
        head = rule.specifier.head if isinstance(rule.specifier, BashPattern) else None
        if head is None:
            bash_open.append((place, rule))
        else:
            by_head.setdefault(head, []).append((place, rule))
    return RuleIndex(
        {tool: tuple(found) for tool, found in by_tool.items()},
        tuple(globs),
        {tool: _path_index(found) for tool, found in by_tool.items()},
        {head: tuple(found) for head, found in by_head.items()},
        tuple(bash_open),
        bool(by_head)
        or any(not isinstance(rule.specifier, ParameterPattern) for _, rule in bash_open),
    )


def _path_index(rules: list[Rule]) -> PathIndex:
    still_open: list[tuple[int, Rule]] = []
    groups: dict[tuple[Anchor, RuleSource | None], dict[str, list[tuple[int, Rule]]]] = {}
    for place, rule in enumerate(rules):
        pattern = rule.specifier
        first = first_component(pattern) if isinstance(pattern, PathPattern) else None
        if first is None or not isinstance(pattern, PathPattern):
            still_open.append((place, rule))
            continue
        key = pattern.anchor, rule.source if pattern.anchor is Anchor.SOURCE else None
        groups.setdefault(key, {}).setdefault(first, []).append((place, rule))
    return PathIndex(
        tuple(still_open),
        tuple(
            PathGroup(
                anchor,
                source or RuleSource.SESSION,
                {first: tuple(found) for first, found in by_first.items()},
            )
            for (anchor, source), by_first in groups.items()
        ),
    )


def _read(entry: RuleText) -> tuple[Rule | None, list[DecisionWarning]]:
    parsed = (
        MalformedRule(entry.invalid, None)
        if entry.invalid is not None
        else parse_rule(entry.text, entry.behavior)
    )
    source = str(entry.source)
    if isinstance(parsed, MalformedRule):
        capped = entry.behavior is not RuleBehavior.ALLOW and parsed.tool is not None
        effect = f"every {parsed.tool} call is asked about instead" if capped else "it is ignored"
        warning = DecisionWarning(
            WarningType.MALFORMED_RULE, source, entry.text, f"{parsed.message}; {effect}"
        )
        if not capped or parsed.tool is None:
            return None, [warning]
        return (
            Rule(
                entry.text,
                RuleBehavior.ASK,
                entry.source,
                entry.file,
                entry.line,
                ToolPattern(parsed.tool),
                WholeTool(),
                is_cap=True,
            ),
            [warning],
        )
    rule = Rule(
        entry.text,
        entry.behavior,
        entry.source,
        entry.file,
        entry.line,
        parsed.tool,
        parsed.specifier,
        examples=entry.examples,
    )
    if parsed.is_known:
        return rule, []
    return rule, [
        DecisionWarning(
            WarningType.UNKNOWN_TOOL, source, entry.text, _unknown_tool(parsed.tool.text)
        )
    ]


def _unknown_tool(name: str) -> str:
    for known in sorted(KNOWN_TOOLS | set(EDIT_TOOLS)):
        if known.lower() == name.lower():
            return f"there is no tool '{name}'; did you mean {known}?"
    return f"there is no tool '{name}'"
