"""The grammar of permission rules: `Tool` or `Tool(specifier)` read into a typed specifier.

Follows the rule grammar documented for Claude Code: command patterns for Bash, anchored
gitignore patterns for files, `domain:` for WebFetch, names for Agent and Skill, and
`parameter:value` for deny and ask rules on any tool.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import StarPattern, star_pattern
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.shell.command_pattern import BashPattern, bash_pattern
from permissions.tool_names import (
    CONTENT_PARAMETERS,
    KNOWN_TOOLS,
    PATH_TOOLS,
    READ_TOOLS,
    SCALAR_PARAMETERS,
    canonical_tool,
    is_mcp_name,
    restricting_names,
)


class RuleBehavior(StrEnum):
    """What a rule does with a call; also the name of its list in a settings file."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


class WholeTool(Struct, frozen=True):
    """Every call of the tool."""


class DomainPattern(Struct, frozen=True):
    """A host: lower case, without a trailing dot; a leading `*.` means any subdomain."""

    host: str


class NamePattern(Struct, frozen=True):
    """An agent type or a skill; with `*`, names (and arguments) with that prefix."""

    pattern: StarPattern
    bare: str | None
    """The name that also fits without arguments (`deploy *` fits `deploy`)."""
    group: str = ""
    """Prefix of the names of a group, if the rule ends in `:*` (`my:*` matches `my:deploy`).
    """

    def fits(self, name: str) -> bool:
        """Return whether a name, or a name with arguments, matches."""
        is_in_group = bool(self.group) and name.startswith(self.group)
        return is_in_group or name == self.bare or self.pattern.matches(name)


class ParameterPattern(Struct, frozen=True):
    """The literal value of one top-level scalar input field."""

    parameter: str
    value: StarPattern


Specifier = WholeTool | BashPattern | PathPattern | DomainPattern | NamePattern | ParameterPattern


class ToolPattern(Struct, frozen=True):
    """Which tools a rule is about."""

    text: str
    """Canonical tool name; `mcp__server` for a whole server; a glob when `glob` is set."""
    glob: StarPattern | None = None
    """Set for every MCP tool of a deny or ask rule too: such a tool has several names."""
    is_restricting: bool = False
    """Whether it is compared with every name of a tool (`restricting_names`)."""

    def matches(self, tool: str) -> bool:
        """Return whether the tool with the canonical name `tool` matches."""
        if self.glob is None:
            return self.text == tool
        if not self.is_restricting:
            return self.glob.matches(tool)
        return any(map(self.glob.matches, restricting_names(tool)))


class ParsedRule(Struct, frozen=True):
    """A rule that could be parsed."""

    tool: ToolPattern
    specifier: Specifier
    is_known: bool
    """False for an unknown tool name: the rule applies, with a warning."""


class MalformedRule(Struct, frozen=True):
    """A rule that could not be parsed."""

    message: str
    tool: str | None
    """The known tool or the server that it was meant for, when that much is clear."""


_NAME = compile_late(r"[A-Za-z_][A-Za-z0-9_.-]*")
_GLOB_NAME = compile_late(r"[A-Za-z0-9_.*-]+")
_MCP = compile_late(r"mcp__[A-Za-z0-9_. -]*")
_PARAMETER = compile_late(r"([A-Za-z_][A-Za-z0-9_-]*):(.*)", re.DOTALL)
_CONTROL = compile_late(r"[\x00-\x1f\x7f]")
_HOST = compile_late(r"[a-z0-9*_.\-\[\]:]+")


def parse_rule(text: str, behavior: RuleBehavior) -> ParsedRule | MalformedRule:
    """Read one rule as written in a list of `behavior`. Never raises."""
    rule_text = text.strip()
    if not rule_text:
        return MalformedRule("the rule is empty", None)
    name, parenthesis, rest = rule_text.partition("(")
    guess = canonical_tool(name.partition(":")[0].strip().rstrip("()_"))
    is_one = guess in KNOWN_TOOLS or isinstance(_parse_mcp(guess, behavior), ParsedRule)
    likely_tool = guess if is_one else None
    if _CONTROL.search(rule_text):
        what = "a line break" if "\n" in rule_text else "a control character"
        return MalformedRule(f"the rule contains {what}", likely_tool)
    if not parenthesis:
        return _parse_bare(rule_text, behavior, likely_tool)
    mistake = _name_mistake(name) if rest.endswith(")") else _closing_mistake(rest)
    mistake = mistake or _body_mistake(rest[:-1])
    if mistake:
        return MalformedRule(mistake, likely_tool)
    return _parse_scoped(canonical_tool(name), rest[:-1].strip(), behavior, likely_tool)


def _closing_mistake(rest: str) -> str:
    if rest.count(")") > rest.count("("):
        return "something follows the closing parenthesis"
    return "the closing parenthesis is missing"


def _name_mistake(name: str) -> str:
    if name == name.strip() and (_NAME.fullmatch(name) or _MCP.fullmatch(name)):
        return ""
    if "*" in name:
        return "a tool glob takes no specifier"
    return f"'{name}' is not a tool name" if name else "the name of the tool is missing"


def _body_mistake(body: str) -> str:
    if not body.strip():
        return "the parentheses are empty; leave them out or write (*)"
    return "" if _is_balanced(body) else "the parentheses do not match"


def _parse_bare(
    name: str, behavior: RuleBehavior, likely_tool: str | None
) -> ParsedRule | MalformedRule:
    if "*" in name:
        return _parse_tool_glob(name, behavior, likely_tool)
    if name.startswith("mcp__"):
        rule = _parse_mcp(name, behavior)
        return replace(rule, tool=likely_tool) if isinstance(rule, MalformedRule) else rule
    if not _NAME.fullmatch(name):
        return MalformedRule(f"'{name}' is not a tool name", likely_tool)
    tool = canonical_tool(name)
    return ParsedRule(ToolPattern(tool), WholeTool(), tool in KNOWN_TOOLS)


def _parse_tool_glob(
    name: str, behavior: RuleBehavior, likely_tool: str | None
) -> ParsedRule | MalformedRule:
    if not _GLOB_NAME.fullmatch(name):
        return MalformedRule(f"'{name}' is not a tool name", likely_tool)
    server, separator, _ = name.removeprefix("mcp__").partition("__")
    is_anchored = name.startswith("mcp__") and separator and server and "*" not in server
    if behavior is RuleBehavior.ALLOW and not is_anchored:
        return MalformedRule(
            "an allow rule may have a wildcard in the tool name only after mcp__<server>__", None
        )
    restricts = behavior is not RuleBehavior.ALLOW
    return ParsedRule(ToolPattern(name, star_pattern(name), restricts), WholeTool(), True)


def _parse_mcp(name: str, behavior: RuleBehavior) -> ParsedRule | MalformedRule:
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    is_whole = bool(server) and (not separator or bool(tool))
    # Where it restricts, a server's name may contain `__`, begin with it, or end with it.
    may_be_meant = behavior is not RuleBehavior.ALLOW and name != "mcp__"
    if not _MCP.fullmatch(name) or not (is_whole or may_be_meant):
        return MalformedRule("expected mcp__<server> or mcp__<server>__<tool>", None)
    return ParsedRule(whole_tool(name, behavior), WholeTool(), True)


def whole_tool(name: str, behavior: RuleBehavior) -> ToolPattern:
    """Return the pattern for every call of a tool, or of the server `mcp__server`."""
    if not name.startswith("mcp__"):
        return ToolPattern(name)
    restricts = behavior is not RuleBehavior.ALLOW
    rest = name.removeprefix("mcp__")
    if "__" not in rest or (restricts and rest.endswith("__")):
        prefix = name if rest.endswith("__") else f"{name}__"
        return ToolPattern(name, StarPattern((prefix, "")), restricts)
    return ToolPattern(name, StarPattern((name,)) if restricts else None, restricts)


def _parse_scoped(
    tool: str, body: str, behavior: RuleBehavior, likely_tool: str | None
) -> ParsedRule | MalformedRule:
    parameter = _PARAMETER.fullmatch(body)
    if parameter:
        rule = _parse_parameter(tool, parameter[1], parameter[2], behavior, likely_tool)
        if rule is not None:
            return rule
    specifier = _parse_specifier(tool, body, behavior)
    if behavior is RuleBehavior.ALLOW and tool in READ_TOOLS and body == "*":
        # Same as the tool alone; a deny on `*` also prevents edits, which the tool alone would not.
        specifier = WholeTool()
    if isinstance(specifier, MalformedRule):
        return specifier
    if is_mcp_name(tool) or tool.startswith("mcp__"):
        mcp_rule = _parse_mcp(tool, behavior)
        if isinstance(mcp_rule, MalformedRule):
            return mcp_rule
        return ParsedRule(mcp_rule.tool, specifier, True)
    return ParsedRule(ToolPattern(tool), specifier, _is_known(tool))


def _parse_parameter(
    tool: str, name: str, value: str, behavior: RuleBehavior, likely_tool: str | None
) -> ParsedRule | MalformedRule | None:
    """Read `name:value`; None if that is the tool's own kind of specifier."""
    if name in CONTENT_PARAMETERS and tool in KNOWN_TOOLS:
        return MalformedRule(
            f"'{name}' is matched by the tool's own specifier, not as a parameter", likely_tool
        )
    if not _is_parameter_rule(tool, name, value):
        return None
    if behavior is RuleBehavior.ALLOW:
        return MalformedRule("parameters can be matched in deny and ask rules only", likely_tool)
    pattern = ParameterPattern(name, star_pattern(value.strip()))
    return ParsedRule(whole_tool(tool, behavior), pattern, _is_known(tool))


def _is_known(tool: str) -> bool:
    return tool in KNOWN_TOOLS or is_mcp_name(tool)


def _is_parameter_rule(tool: str, parameter: str, value: str) -> bool:
    if tool in ("WebFetch",) and parameter == "domain":
        return False
    if tool == "Bash" and parameter == "timeout" and value.strip() == "*":
        # `timeout:*` is the command of that name, as `time:*` is.
        return False
    if tool in SCALAR_PARAMETERS:
        return parameter in SCALAR_PARAMETERS[tool]
    # Bash, path and name specifiers may contain a colon of their own.
    return tool not in KNOWN_TOOLS


def _parse_specifier(tool: str, body: str, behavior: RuleBehavior) -> Specifier | MalformedRule:
    if tool in PATH_TOOLS:
        return _parse_path(tool, body, behavior)
    if body == "*":
        return WholeTool()
    if tool == "Bash":
        return bash_pattern(body)
    if tool == "WebFetch":
        return _parse_domain(body)
    if tool in ("Agent", "Skill", "Workflow"):
        return _parse_name(body.removeprefix("/"))
    if tool in KNOWN_TOOLS or tool.startswith("mcp__"):
        return MalformedRule(
            f"{tool} takes no specifier here; deny and ask rules may say (parameter:value)",
            tool if _is_known(tool) else None,
        )
    return NamePattern(star_pattern(body), None)


def _parse_name(body: str) -> NamePattern:
    pattern = body[:-2] + " *" if body.endswith(":*") else body
    bare = pattern[:-2] if pattern.endswith(" *") else None
    return NamePattern(star_pattern(pattern), bare, body[:-1] if body.endswith(":*") else "")


def _parse_path(tool: str, body: str, behavior: RuleBehavior) -> PathPattern | MalformedRule:
    if body.startswith("!"):
        return MalformedRule("negated patterns are not supported", tool)
    if body.startswith("//"):
        anchor, pattern = Anchor.ROOT, body.lstrip("/")
    elif body == "~" or body.startswith("~/"):
        anchor, pattern = Anchor.HOME, body[1:].lstrip("/")
    elif body.startswith("~"):
        return MalformedRule("only ~/ is supported, not another user's home", tool)
    elif body.startswith("/"):
        anchor, pattern = Anchor.SOURCE, body[1:]
    else:
        anchor, pattern = Anchor.CURRENT, body
    if ".." not in pattern.split("/"):
        return PathPattern(anchor, pattern)
    if behavior is RuleBehavior.ALLOW:
        return MalformedRule("the path of an allow rule cannot contain '..'", tool)
    return _without_parents(tool, PathPattern(anchor, pattern))


def _without_parents(tool: str, pattern: PathPattern) -> PathPattern | MalformedRule:
    """Return a pattern with `..` that begins above its anchor, or at it, instead."""
    names: list[str] = []
    parents = 0
    for name in pattern.pattern.split("/"):
        if name == ".." and names:
            if not set("*?[\\").isdisjoint(names.pop()):
                return MalformedRule("'..' cannot follow a wildcard", tool)
        elif name == "..":
            parents += 1
        elif name not in ("", "."):
            names.append(name)
    return replace(pattern, pattern="/".join(names), parents=parents)


def _parse_domain(body: str) -> DomainPattern | WholeTool | MalformedRule:
    keyword, colon, host = body.partition(":")
    if keyword != "domain" or not colon:
        return MalformedRule("expected WebFetch(domain:<host>)", "WebFetch")
    host = host.strip().lower().rstrip(".")
    if host == "*":
        return WholeTool()
    if not host or not _HOST.fullmatch(host) or (":" in host and not host.startswith("[")):
        return MalformedRule("a domain is a host name without scheme, port or path", "WebFetch")
    return DomainPattern(host)


def _is_balanced(body: str) -> bool:
    depth, quote, is_escaped = 0, "", False
    for character in body:
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and body.count(character) % 2 == 0:
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
