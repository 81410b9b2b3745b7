"""Determines whether one rule matches everything that another one matches.

True only if that is certain, because lint then reports that a rule can never take effect.
"""

from __future__ import annotations

import re
from itertools import takewhile

from permissions.base.text.star_pattern import star_pattern
from permissions.paths.path_pattern import Anchor, PathPattern, compiled_pattern
from permissions.rules.grammar import (
    DomainPattern,
    NamePattern,
    ParameterPattern,
    RuleBehavior,
    ToolPattern,
    WholeTool,
)
from permissions.rules.rule_set import Rule, RuleSource
from permissions.shell.analyze import analyze
from permissions.shell.command_pattern import BashPattern
from permissions.shell.programs.registry import LOOKED_THROUGH
from permissions.shell.syntax import Unparsable
from permissions.tool_names import EDIT_TOOLS, READ_TOOLS

_ANYTHING = "\x01"
"""Represents an arbitrary text in place of a wildcard."""
_WILD = frozenset("*?[\\")


def subsumes(wider: Rule, narrower: Rule) -> bool:
    """Return whether `wider` matches every call that `narrower` matches."""
    if not _covers_tool(wider, narrower) or wider.is_for_tool_only > narrower.is_for_tool_only:
        return False
    whole, part = wider.specifier, narrower.specifier
    match whole:
        case WholeTool():
            return True
        case BashPattern():
            return _covers_commands(wider, whole, part)
        case PathPattern():
            return _covers_paths(wider, whole, narrower)
        case DomainPattern():
            return isinstance(part, DomainPattern) and _host(whole.host, part.host)
        case NamePattern():
            return isinstance(part, NamePattern) and _name(whole, part)
        case ParameterPattern():
            return whole == part


def _covers_commands(wider: Rule, whole: BashPattern, part: object) -> bool:
    if isinstance(part, WholeTool):
        return whole.full.matches(_ANYTHING)
    return isinstance(part, BashPattern) and _command(wider, whole, part)


def _covers_paths(wider: Rule, whole: PathPattern, narrower: Rule) -> bool:
    part = narrower.specifier
    if isinstance(part, WholeTool):
        return wider.behavior is not RuleBehavior.ALLOW and _is_everything(whole)
    return isinstance(part, PathPattern) and _path(wider, whole, narrower, part)


def coverage_key(rule: Rule) -> str | None:
    """Return the prefix key of a rule: it can cover only rules whose key starts with its own.

    None for a rule that may cover any. Commands inside the one command that a rule allows (`sudo
    x`) are not considered: see `finds_inside`.
    """
    specifier = rule.specifier
    match specifier:
        case BashPattern():
            start = (specifier.bare or specifier.full).chunks[0]
            return f"command {start}" if start else None
        case PathPattern():
            start = _fixed_start(specifier, strict=rule.behavior is not RuleBehavior.ALLOW)
            return f"path {_place(rule, specifier)}/{start}/" if start else None
        case _:
            return None


def _fixed_start(pattern: PathPattern, *, strict: bool) -> str:
    """Return the names that every path below the anchor begins with; "" where there are none."""
    if pattern.floats(strict=strict):
        return ""
    names = [name for name in pattern.pattern.split("/") if name not in ("", ".")]
    return "/".join(takewhile(lambda name: _WILD.isdisjoint(name), names))


def finds_inside(wider: Rule, narrower: Rule) -> bool:
    """Whether `wider` may cover a rule whose key (`coverage_key`) does not start with its own."""
    part = narrower.specifier
    is_command = isinstance(part, BashPattern) and part.is_exact
    return is_command and isinstance(wider.specifier, BashPattern)


def _command(wider: Rule, whole: BashPattern, part: BashPattern) -> bool:
    if wider.behavior is RuleBehavior.ALLOW and whole.head in LOOKED_THROUGH:
        # `timeout *` allows no program after it; other patterns are not analyzed here.
        return whole == part or (whole.is_exact and whole.subsumes(part))
    if whole.subsumes(part):
        return wider.behavior is not RuleBehavior.ALLOW or _may_cover(whole, part)
    return wider.behavior is not RuleBehavior.ALLOW and part.is_exact and _finds(whole, part.text)


def _may_cover(whole: BashPattern, part: BashPattern) -> bool:
    """Whether `part` has no options that only an exact rule allows."""
    if whole.is_exact or whole == part or part.bare is not None:
        return True
    # A wildcard is replaced by a name, or after a name by nothing.
    facts = analyze(re.sub(r"(?<=\w)\*", "", part.text).replace("*", "x"), "/", "/")
    return isinstance(facts, Unparsable) or not any(one.risk for one in facts)


def _finds(whole: BashPattern, command: str) -> bool:
    """Whether a deny or ask pattern matches inside what an exact rule allows (`sudo x`)."""
    facts = analyze(command, "/", "/")
    if isinstance(facts, Unparsable):
        return False
    return any(whole.matches(form.joined_text) for one in facts for form in one.deny_forms)


def _covers_tool(wider: Rule, narrower: Rule) -> bool:
    if _tool(wider.tool, narrower.tool):
        return True
    # Whole-family rules: an Edit rule is about every editing tool, a Read rule about reading.
    if wider.tool.glob is not None or isinstance(wider.specifier, ParameterPattern):
        return False
    name, other = wider.tool.text, narrower.tool.text
    if name == "Edit":
        return other in EDIT_TOOLS
    if name != "Read":
        return False
    if other in READ_TOOLS:
        return True
    # A Read deny on a path also stops editing it; a bare Read does not apply to editing.
    is_path = isinstance(wider.specifier, PathPattern)
    return wider.behavior is RuleBehavior.DENY and is_path and other in EDIT_TOOLS


def _tool(wider: ToolPattern, narrower: ToolPattern) -> bool:
    if wider.glob is None:
        return narrower.glob is None and wider.text == narrower.text
    if narrower.glob is None:
        return wider.glob.matches(narrower.text)
    return wider.glob.subsumes(narrower.glob)


def _name(wider: NamePattern, narrower: NamePattern) -> bool:
    start = narrower.pattern.chunks[0]
    is_covered = (
        wider.pattern.subsumes(narrower.pattern)
        or (narrower.pattern.is_exact and wider.fits(start))
        or (bool(wider.group) and start.startswith(wider.group))
    )
    return (
        is_covered
        and (narrower.bare is None or wider.fits(narrower.bare))
        and (not narrower.group or wider.fits(f"{narrower.group}{_ANYTHING}"))
    )


def _host(wider: str, narrower: str) -> bool:
    any_depth = wider.startswith("*.")
    wide = wider.removeprefix("*.").split(".")
    narrow = narrower.removeprefix("*.").split(".")
    if narrower.startswith("*."):
        # Its wildcard matches at least one label, so both suffixes may have the same length.
        fits = any_depth and len(narrow) >= len(wide)
    else:
        fits = len(narrow) > len(wide) if any_depth else len(narrow) == len(wide)
    ends = zip(wide, narrow[-len(wide) :], strict=False)
    return fits and all(star_pattern(one).subsumes(star_pattern(two)) for one, two in ends)


def _path(wider: Rule, whole: PathPattern, narrower: Rule, part: PathPattern) -> bool:
    strict = wider.behavior is not RuleBehavior.ALLOW
    if strict and _is_everything(whole):
        return True
    floating = whole.floats(strict=strict)
    if not (floating and strict) and _place(wider, whole) != _place(narrower, part):
        return False
    part_floats = part.floats(strict=narrower.behavior is not RuleBehavior.ALLOW)
    return _fits_all_of(whole.pattern, floating, part.pattern, part_floats)


def _fits_all_of(wider: str, wider_floats: bool, narrower: str, narrower_floats: bool) -> bool:
    """Whether one path pattern matches every path of another one. Classes are not compared.

    A character that no rule can contain represents any text: what matches with none, one and
    several of it in place of each wildcard matches with anything there. That `dir/**` also matches
    the directory itself is not considered, since that is not its purpose.
    """
    if wider == narrower and wider_floats >= narrower_floats:
        return True
    is_deeper = narrower_floats and not wider_floats
    has_wildcard = is_deeper or not _WILD.isdisjoint(narrower)
    if not {"[", "\\"}.isdisjoint(narrower) or (has_wildcard and "[" in wider):
        return False
    fits = compiled_pattern(wider, wider_floats)
    names = [name for name in narrower.split("/") if name not in ("", ".")]
    names = ["**", *names] if is_deeper else names
    if len(names) > _MOST_NAMES:
        return False
    return all(
        fits.fullmatch(path)
        for letters in ("", _ANYTHING, _ANYTHING * 3)
        for path in _samples(names, letters)
    )


_MOST_NAMES = 12
"""Maximum number of components that are compared: each `**` doubles the work."""


def _samples(names: list[str], letters: str) -> list[str]:
    """Return sample paths that match a pattern, with `letters` for each wildcard."""
    paths = [""]
    for place, name in enumerate(names, start=1):
        if name == "**":
            one = letters or _ANYTHING
            deeper_paths = [f"{path}{one}/{one}/" for path in paths]
            paths = [f"{path}{one}/" for path in paths] if place == len(names) else paths
            paths = [*paths, *deeper_paths]
        else:
            one = name.replace("*", letters).replace("?", _ANYTHING) or _ANYTHING
            paths = [f"{path}{one}/" for path in paths]
    return [path.removesuffix("/") for path in paths]


def _is_everything(pattern: PathPattern) -> bool:
    """Whether a deny or ask pattern matches every path."""
    components = [part for part in pattern.pattern.split("/") if part not in ("", ".")]
    anywhere = pattern.anchor in (Anchor.ROOT, Anchor.CURRENT) and pattern.parents is None
    return anywhere and (set(components) == {"**"} or components == ["*"])


def _place(rule: Rule, pattern: PathPattern) -> str:
    """Return a name for a pattern's anchor; project root and launch directory count as the same."""
    above = "../" * (pattern.parents or 0)
    return f"{above}{_anchor_name(rule, pattern)}"


def _anchor_name(rule: Rule, pattern: PathPattern) -> str:
    match pattern.anchor:
        case Anchor.ROOT:
            return "root"
        case Anchor.HOME:
            return "home"
        case Anchor.CURRENT:
            return "project"
        case Anchor.SOURCE:
            if rule.source is RuleSource.POLICY:
                return "root"
            return "settings" if rule.source is RuleSource.USER else "project"
