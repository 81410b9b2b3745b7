"""Does one rule match everything that another one matches?

Answers yes only when that is certain, because lint tells people that a rule can never take effect.
"""

from __future__ import annotations

from permissions.bash_pattern import BashPattern
from permissions.grammar import (
    DomainPattern,
    NamePattern,
    ParameterPattern,
    RuleBehavior,
    ToolPattern,
    WholeTool,
)
from permissions.path_pattern import Anchor, PathPattern, compiled_pattern, floats
from permissions.rule_set import Rule, RuleSource
from permissions.shell.analyse import analyse
from permissions.shell.syntax import Unparsable
from permissions.shell.wrappers import LOOKED_THROUGH
from permissions.tools import EDIT_TOOLS, READ_TOOLS

_ANYTHING = "\x01"
"""Stands for an arbitrary text without slash in the place of a wildcard."""


def subsumes(wider: Rule, narrower: Rule) -> bool:
    """Is every call that `narrower` matches matched by `wider` too?"""
    if not _covers_tool(wider, narrower):
        return False
    whole, part = wider.specifier, narrower.specifier
    match whole:
        case WholeTool():
            return True
        case BashPattern():
            if isinstance(part, WholeTool):
                return whole.full.matches(_ANYTHING)
            return isinstance(part, BashPattern) and _command(wider, whole, part)
        case PathPattern():
            return isinstance(part, PathPattern) and _path(wider, whole, narrower, part)
        case DomainPattern():
            return isinstance(part, DomainPattern) and _host(whole.host, part.host)
        case NamePattern():
            return isinstance(part, NamePattern) and _name(whole, part)
        case ParameterPattern():
            return whole == part


def _command(wider: Rule, whole: BashPattern, part: BashPattern) -> bool:
    if wider.behavior is RuleBehavior.ALLOW and whole.head in LOOKED_THROUGH:
        # `timeout *` allows no program behind it; how much another pattern names is not looked at.
        return whole == part or (whole.is_exact and whole.subsumes(part))
    if whole.subsumes(part):
        return True
    return wider.behavior is not RuleBehavior.ALLOW and part.is_exact and _finds(whole, part.text)


def _finds(whole: BashPattern, command: str) -> bool:
    """Does a deny or ask pattern find the one command that a rule allows, as in `sudo x`?"""
    facts = analyse(command, "/", "/")
    if isinstance(facts, Unparsable) or len(facts) != 1:
        return False
    return any(whole.matches(form.joined) for form in facts[0].deny_forms)


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
    # A Read deny on a path also stops editing it; a bare Read says nothing about editing.
    is_path = isinstance(wider.specifier, PathPattern)
    return wider.behavior is RuleBehavior.DENY and is_path and other in EDIT_TOOLS


def _tool(wider: ToolPattern, narrower: ToolPattern) -> bool:
    if wider.glob is None:
        return narrower.glob is None and wider.text == narrower.text
    if narrower.glob is None:
        return wider.glob.matches(narrower.text)
    return wider.glob.subsumes(narrower.glob)


def _name(wider: NamePattern, narrower: NamePattern) -> bool:
    covered = wider.pattern.subsumes(narrower.pattern) or (
        wider.bare is not None
        and narrower.pattern.is_exact
        and narrower.pattern.chunks[0] == wider.bare
    )
    return covered and (
        narrower.bare is None or narrower.bare == wider.bare or wider.pattern.matches(narrower.bare)
    )


def _host(wider: str, narrower: str) -> bool:
    if wider == narrower:
        return True
    if wider.startswith("*."):
        # Any depth of subdomain, not the domain itself.
        ending = wider[1:]
        if "*" in ending:
            return False
        body = narrower[2:] if narrower.startswith("*.") else narrower
        return f".{body}".endswith(ending) and (body != ending[1:] or narrower.startswith("*."))
    wide, narrow = wider.split("."), narrower.split(".")
    return (
        not narrower.startswith("*.")
        and len(wide) == len(narrow)
        and all(one in ("*", two) for one, two in zip(wide, narrow, strict=True))
    )


def _path(wider: Rule, whole: PathPattern, narrower: Rule, part: PathPattern) -> bool:
    strict = wider.behavior is not RuleBehavior.ALLOW
    floating = whole.anchor is Anchor.CURRENT and floats(whole.pattern, strict=strict)
    regex = compiled_pattern(whole.pattern, floating)
    place, other_place = _place(wider, whole), _place(narrower, part)
    part_floats = part.anchor is Anchor.CURRENT and floats(
        part.pattern, strict=narrower.behavior is not RuleBehavior.ALLOW
    )
    samples = _samples(part.pattern, floating=part_floats)
    if floating and strict:
        return all(regex.fullmatch(sample) for sample in samples)
    if place != other_place:
        return False
    return all(regex.fullmatch(sample) for sample in samples)


def _place(rule: Rule, pattern: PathPattern) -> str:
    """Name the place a pattern starts at; project root and launch folder count as one."""
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


def _samples(pattern: str, *, floating: bool) -> list[str]:
    """Return paths that stand for all that the pattern matches."""
    body = pattern.strip("/").removeprefix("./")
    deep = f"{_ANYTHING}/{_ANYTHING}"
    components = [part for part in body.split("/") if part not in ("", ".")]
    shallow: list[str] = []
    nested: list[str] = []
    for component in components:
        if component == "**":
            nested.append(deep)
            continue
        plain = component.replace("*", _ANYTHING).replace("?", _ANYTHING)
        shallow.append(plain)
        nested.append(plain)
    found = [path for path in ("/".join(shallow), "/".join(nested)) if path] or [deep]
    # A name also stands for a folder and everything in it.
    found.extend([f"{path}/{deep}" for path in found])
    if components and components[-1] == "**" and shallow:
        # The folder itself is not what `dir/**` is written for.
        found = [path for path in found if path != "/".join(shallow)]
    if floating:
        found.extend([f"{deep}/{path}" for path in found])
    return found
