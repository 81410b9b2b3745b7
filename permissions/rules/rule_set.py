"""Rules as data: their six sources, their form in settings, and the indexed set."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct, field

from permissions.decision import DecisionWarning, RuleRef, WarningType
from permissions.paths.match_path import LastNames
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.rules.grammar import (
    MalformedRule,
    ParameterPattern,
    RuleBehavior,
    Specifier,
    ToolPattern,
    WholeTool,
    parse_rule,
    whole_tool,
)
from permissions.shell.command_pattern import BashPattern
from permissions.tool_names import EDIT_TOOLS, KNOWN_TOOLS

__all__ = ["Rule", "RuleBehavior", "RuleExamples", "RuleSet", "RuleSource", "RuleText"]


class RuleSource(StrEnum):
    """Where a rule comes from, in priority order."""

    POLICY = "policySettings"
    PROJECT = "projectSettings"
    LOCAL = "localSettings"
    USER = "userSettings"
    CLI = "cliArg"
    SESSION = "session"


SOURCE_ORDER = {source: index for index, source in enumerate(RuleSource)}
"""Rank of a source; 0 is checked first."""


class RuleExamples(Struct, frozen=True):
    """Calls that a rule must match, or must not match; Bash commands, paths or whole calls."""

    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


class RuleText(Struct, frozen=True):
    """A rule as given in settings, not yet parsed."""

    text: str
    behavior: RuleBehavior
    source: RuleSource
    file: str | None = None
    line: int | None = None
    examples: RuleExamples | None = None
    is_for_tool_only: bool = False
    invalid: str | None = None
    """Set when the entry was no rule: why, and what follows; `text` is then its JSON."""


class Rule(Struct, frozen=True):
    """A parsed rule that applies."""

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
    is_for_tool_only: bool = False
    """Covers calls of its tool, and not the same access to a file by another tool."""

    @property
    def ref(self) -> RuleRef:
        """The reference shown to users."""
        return RuleRef(self.text, str(self.source), self.file, self.line)

    @property
    def is_tool_wide(self) -> bool:
        """Whether the rule covers every call of its tool."""
        return isinstance(self.specifier, WholeTool)


PlacedRule = tuple[int, Rule]
"""A rule with its place in order of source."""


class PathGroup(Struct, frozen=True):
    """Rules whose path patterns have the same anchor and begin with literal names."""

    anchor: Anchor
    source: RuleSource
    """The source that `/x` belongs to; of no importance for other anchors."""
    parents: int | None
    """How many directories above the anchor the patterns begin."""
    by_prefix: Mapping[str, tuple[PlacedRule, ...]]
    """Rules by the components that a path must start with."""
    bases: tuple[str, ...]
    """The literal prefixes of the patterns, sorted."""
    by_base: tuple[PlacedRule, ...]
    """The rules in the order of `bases`."""

    def inside(self, directory: str) -> tuple[PlacedRule, ...]:
        """Return the rules about something in `directory`, below the anchor ("" for itself)."""
        if not directory:
            return self.by_base
        # Bases that begin with `directory/` are adjacent, as "0" is the character after "/".
        exact = self.by_base[
            bisect_left(self.bases, directory) : bisect_right(self.bases, directory)
        ]
        start = bisect_left(self.bases, f"{directory}/")
        return (*exact, *self.by_base[start : bisect_left(self.bases, f"{directory}0")])


class PathIndex(Struct, frozen=True):
    """The rules of one tool."""

    open: tuple[PlacedRule, ...]
    """Rules that may match any path, or that are not about paths."""
    by_name: Mapping[str, tuple[PlacedRule, ...]]
    """Rules that match at any depth, by a name that the path must contain."""
    groups: tuple[PathGroup, ...]


class RuleIndex(Struct, frozen=True):
    """The rules of one behavior, found by tool and, for Bash, by program."""

    by_tool: Mapping[str, tuple[Rule, ...]]
    """Rules with a literal tool name, in order of source."""
    by_glob: tuple[Rule, ...]
    """Rules with a wildcard in the tool name, `mcp__server` included."""
    paths: Mapping[str, PathIndex]
    """The rules of `by_tool` again, found by where a path leads."""
    bash_by_head: Mapping[str, tuple[PlacedRule, ...]]
    """Bash patterns whose program is literal; the number is the place in order of source."""
    bash_open: tuple[PlacedRule, ...]
    """Other Bash rules: whole tool, parameter, program with a wildcard, whole commands."""
    has_command_rules: bool
    """Whether there is a Bash rule about what is run, not only about a parameter."""
    file_rules: tuple[Rule, ...]
    """Rules about the paths that are read, then those about the paths that are edited."""
    last_names: LastNames
    """Of the patterns of `file_rules`."""

    def globs_for(self, tool: str) -> list[Rule]:
        """Return the rules whose tool name has a wildcard that fits `tool`, in order of source."""
        return [rule for rule in self.by_glob if rule.tool.matches(tool)]

    def for_program(self, program: str) -> list[PlacedRule]:
        """Return Bash rules that could be about `program` with their places, not sorted."""
        return [*self.bash_by_head.get(program, ()), *self.bash_open]


class RuleSet(Struct, frozen=True):
    """All rules that apply, in order of source, and warnings about the others."""

    rules: tuple[Rule, ...] = ()
    warnings: tuple[DecisionWarning, ...] = ()
    texts: tuple[RuleText, ...] = ()
    """What the set was built from."""
    indexes: Mapping[RuleBehavior, RuleIndex] = field(default_factory=dict)
    """Derived from `rules`, and therefore not compared."""
    counting: dict[tuple[bool, ...], tuple[RuleSet, tuple[DecisionWarning, ...]]] = field(
        default_factory=dict
    )
    """Cached results of `effective_rules`, by its arguments."""

    def __eq__(self, other: object) -> bool:
        """Compare rules, warnings and texts."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        return (self.rules, self.warnings, self.texts) == (other.rules, other.warnings, other.texts)

    def __hash__(self) -> int:
        """Hash rules, warnings and texts."""
        return hash((self.rules, self.warnings, self.texts))

    @classmethod
    def build(cls, entries: Iterable[RuleText]) -> tuple[RuleSet, tuple[DecisionWarning, ...]]:
        """Read rules of all sources. Never raises.

        A bad allow is left out; a bad deny or ask whose tool is known asks about that whole tool.
        Returns the set and one warning per rule that could not be parsed.
        """
        texts = tuple(sorted(entries, key=lambda entry: SOURCE_ORDER[entry.source]))
        rules: list[Rule] = []
        warnings: list[DecisionWarning] = []
        for entry in texts:
            rule, result = _read(entry)
            warnings.extend(result)
            if rule is not None:
                rules.append(rule)
        return cls._with_indexes(tuple(rules), tuple(warnings), texts), tuple(warnings)

    def with_rules(self, entries: Iterable[RuleText]) -> RuleSet:
        """Return a set that has these rules as well."""
        return RuleSet.build((*self.texts, *entries))[0]

    def only(self, rules: Iterable[Rule]) -> RuleSet:
        """Return a set of just these rules of this one, with its warnings."""
        return self._with_indexes(tuple(rules), self.warnings, self.texts)

    def index(self, behavior: RuleBehavior) -> RuleIndex:
        """Return the rules of one behavior."""
        return self.indexes.get(behavior, _EMPTY_INDEX)

    @classmethod
    def _with_indexes(
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


_EMPTY_INDEX = RuleIndex({}, (), {}, {}, (), False, (), LastNames(()))


def _rank(rule: Rule) -> int:
    return SOURCE_ORDER[rule.source]


def _index(rules: list[Rule]) -> RuleIndex:
    by_tool: dict[str, list[Rule]] = {}
    globs: list[Rule] = []
    for rule in rules:
        if rule.tool.glob is not None:
            globs.append(rule)
        else:
            by_tool.setdefault(rule.tool.text, []).append(rule)
    by_head, bash_open = _bash_index(rules)
    file_rules = [
        rule
        for rule in (*by_tool.get("Read", ()), *by_tool.get("Edit", ()))
        if isinstance(rule.specifier, PathPattern)
    ]
    patterns = [rule.specifier for rule in file_rules if isinstance(rule.specifier, PathPattern)]
    return RuleIndex(
        {tool: tuple(result) for tool, result in by_tool.items()},
        tuple(globs),
        {tool: _path_index(result) for tool, result in by_tool.items()},
        {head: tuple(result) for head, result in by_head.items()},
        tuple(bash_open),
        bool(by_head)
        or any(not isinstance(rule.specifier, ParameterPattern) for _, rule in bash_open),
        tuple(file_rules),
        LastNames(patterns),
    )


def _bash_index(rules: list[Rule]) -> tuple[dict[str, list[PlacedRule]], list[PlacedRule]]:
    """Return the rules about Bash by the program they name, and those that name none."""
    by_head: dict[str, list[PlacedRule]] = {}
    still_open: list[PlacedRule] = []
    for place, rule in enumerate(rules):
        if not rule.tool.matches("Bash"):
            continue
        pattern = rule.specifier
        if isinstance(pattern, BashPattern) and pattern.head is not None and not pattern.wholes:
            by_head.setdefault(pattern.head, []).append((place, rule))
        else:
            still_open.append((place, rule))
    return by_head, still_open


def _path_index(rules: list[Rule]) -> PathIndex:
    still_open: list[PlacedRule] = []
    by_name: dict[str, list[PlacedRule]] = {}
    groups: dict[
        tuple[Anchor, RuleSource | None, int | None], list[tuple[str, str, PlacedRule]]
    ] = {}
    for place, rule in enumerate(rules):
        pattern = rule.specifier
        if not isinstance(pattern, PathPattern):
            still_open.append((place, rule))
            continue
        name = pattern.required_name if pattern.floats_for_restrictions else None
        if name is not None:
            by_name.setdefault(name, []).append((place, rule))
            continue
        prefix = pattern.literal_prefix
        if prefix is None:
            still_open.append((place, rule))
            continue
        source = rule.source if pattern.anchor is Anchor.SOURCE else None
        key = (pattern.anchor, source, pattern.parents)
        groups.setdefault(key, []).append((prefix, pattern.literal_base, (place, rule)))
    return PathIndex(
        tuple(still_open),
        {name: tuple(placed_rules) for name, placed_rules in by_name.items()},
        tuple(
            _path_group(anchor, source or RuleSource.SESSION, parents, result)
            for (anchor, source, parents), result in groups.items()
        ),
    )


def _path_group(
    anchor: Anchor,
    source: RuleSource,
    parents: int | None,
    entries: list[tuple[str, str, PlacedRule]],
) -> PathGroup:
    by_prefix: dict[str, list[PlacedRule]] = {}
    for prefix, _, placed_rule in entries:
        by_prefix.setdefault(prefix, []).append(placed_rule)
    sorted_bases = sorted((base, placed_rule[0], placed_rule) for _, base, placed_rule in entries)
    return PathGroup(
        anchor,
        source,
        parents,
        {prefix: tuple(placed_rules) for prefix, placed_rules in by_prefix.items()},
        tuple(base for base, _, _ in sorted_bases),
        tuple(placed_rule for _, _, placed_rule in sorted_bases),
    )


def _read(entry: RuleText) -> tuple[Rule | None, list[DecisionWarning]]:
    source = str(entry.source)
    if entry.invalid is not None:
        return None, [
            DecisionWarning(WarningType.MALFORMED_RULE, source, entry.text, entry.invalid)
        ]
    parsed_rule = parse_rule(entry.text, entry.behavior)
    if isinstance(parsed_rule, MalformedRule):
        is_capped = entry.behavior is not RuleBehavior.ALLOW and parsed_rule.tool is not None
        effect = (
            f"every {parsed_rule.tool} call is asked about instead"
            if is_capped
            else "it is ignored"
        )
        warning = DecisionWarning(
            WarningType.MALFORMED_RULE, source, entry.text, f"{parsed_rule.message}; {effect}"
        )
        if not is_capped or parsed_rule.tool is None:
            return None, [warning]
        return (
            Rule(
                entry.text,
                RuleBehavior.ASK,
                entry.source,
                entry.file,
                entry.line,
                whole_tool(parsed_rule.tool, RuleBehavior.ASK),
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
        parsed_rule.tool,
        parsed_rule.specifier,
        examples=entry.examples,
        is_for_tool_only=entry.is_for_tool_only,
    )
    if parsed_rule.is_known:
        return rule, []
    return rule, [
        DecisionWarning(
            WarningType.UNKNOWN_TOOL, source, entry.text, _unknown_tool(parsed_rule.tool.text)
        )
    ]


def _unknown_tool(name: str) -> str:
    for tool in sorted(KNOWN_TOOLS | set(EDIT_TOOLS)):
        if tool.lower() == name.lower():
            return f"there is no tool '{name}'; did you mean {tool}?"
    return f"there is no tool '{name}'"
