"""Calls of tools other than Bash, prepared for a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping

from permissions.decision import Behavior, Reason
from permissions.evaluate.call_view import CallView
from permissions.evaluate.part_verdict import Part, PreparedPart
from permissions.matching.match_domain import host_of
from permissions.matching.match_tool import RuleSubject, first_match
from permissions.paths.resolve import Target
from permissions.request import PermissionRequest
from permissions.rules.rule_set import Rule, RuleBehavior
from permissions.scope.scope import (
    Floor,
    Scope,
    check_address,
    check_host,
    strictest_floor,
    write_dirs_of,
)
from permissions.tool_names import (
    DEFAULT_ALLOWED_TOOLS,
    EDIT_TOOLS,
    READ_TOOLS,
    is_known_tool,
    is_mcp_name,
)


def tool_part(request: PermissionRequest, tool: str, view: CallView) -> PreparedPart:
    """Return the single part of such a call; `tool` is the canonical name."""
    scope, base, context = view.scope, view.base, view.context
    target: Target | None = None
    host: str | None = None
    floors: tuple[Floor | None, ...]
    if tool in EDIT_TOOLS:
        path_value = _edited_path(tool, request.tool_input)
        target, unclear = _target(path_value, scope, base)
        floors = (unclear or scope.check_write(target, str(path_value)),)
    elif tool in READ_TOOLS:
        path_value = _where(tool, request.tool_input)
        target, unclear = _target(path_value, scope, base)
        floors = (unclear or scope.check_read(target, str(path_value)),)
    elif tool == "WebFetch":
        host = host_of(request.tool_input.get("url"))
        floors = _host_floors(context.blocked_hosts, host)
    else:
        floors = (_floor_of_other(request, tool),)
    floors = (view.floor, *floors)
    call = RuleSubject(tool, request.tool_input, target, host)

    def find(behavior: RuleBehavior) -> Rule | None:
        return first_match(view.rules, behavior, call, view.anchors)

    part = Part(
        text=describe(request),
        kind="tool",
        floor=strictest_floor(floors),
        write_dirs=write_dirs_of(floors),
        is_write=tool in EDIT_TOOLS,
        is_free=tool in READ_TOOLS
        or tool in DEFAULT_ALLOWED_TOOLS
        or (request.is_trusted_read and (is_mcp_name(tool) or tool == "Skill")),
        is_edit=tool in EDIT_TOOLS,
        target="" if target is None else target.real,
    )
    return PreparedPart(part, find)


def _host_floors(blocked_hosts: frozenset[str], host: str | None) -> tuple[Floor | None, ...]:
    if host is None:
        text = "the address has no host that can be read"
        return (Floor(Behavior.ASK, Reason.UNPARSABLE, text),)
    return check_host(blocked_hosts, host), check_address(host)


def _floor_of_other(request: PermissionRequest, tool: str) -> Floor | None:
    """Return the floor of a tool that names neither a file nor a host."""
    if not is_known_tool(tool):
        return Floor(Behavior.ASK, Reason.UNKNOWN_TOOL, f"there is no tool {request.tool!r}")
    if request.wants_user and is_mcp_name(tool):
        text = "the server has each call of this tool shown to you"
        return Floor(Behavior.ASK, Reason.WANTS_USER, text)
    return None


def describe(request: PermissionRequest) -> str:
    """Return the call in one line, e.g. `Read(src/a.py)`."""
    for key in (
        "command",
        "file_path",
        "notebook_path",
        "path",
        "url",
        "skill",
        "pattern",
        "workflow",
    ):
        value = request.tool_input.get(key)
        if isinstance(value, str) and value:
            return f"{request.tool}({value})"
    return request.tool


def _edited_path(tool: str, tool_input: Mapping[str, object]) -> object:
    path_value = tool_input.get(EDIT_TOOLS[tool])
    if path_value is None and tool == "NotebookEdit":
        return tool_input.get("file_path")
    return path_value


def _target(path_value: object, scope: Scope, base: str) -> tuple[Target | None, Floor | None]:
    if not isinstance(path_value, str) or not path_value or "\x00" in path_value:
        value_text = json.dumps(path_value, default=str)
        return None, Floor(Behavior.ASK, Reason.UNPARSABLE, f"the path {value_text} cannot be read")
    return scope.resolve(path_value, base), None


def _where(tool: str, tool_input: Mapping[str, object]) -> object:
    path_value = tool_input.get(READ_TOOLS[tool])
    if tool in ("Glob", "Grep", "LS") and (path_value is None or path_value == ""):
        path_value = "."
    pattern = tool_input.get("pattern")
    if tool == "Glob" and isinstance(pattern, str) and isinstance(path_value, str):
        fixed_part = _fixed_part(pattern)
        if fixed_part.startswith(("/", "~")):
            return fixed_part
        return f"{path_value.rstrip('/') or '/'}/{fixed_part}" if fixed_part else path_value
    return path_value


def _fixed_part(pattern: str) -> str:
    """Return the directory below which a glob searches: its components before a wildcard.

    Every `..`, even after a wildcard, is included so that it counts against the scope.
    """
    components: list[str] = []
    climbs = 0
    wild = False
    for component in pattern.split("/"):
        if wild:
            climbs += component == ".."
            continue
        if any(mark in component for mark in "*?[{"):
            wild = True
            continue
        components.append(component)
    return "/".join([*components, *([".."] * climbs)])
