"""Calls of tools other than Bash, made ready to be judged."""

from __future__ import annotations

import json
from collections.abc import Mapping

from permissions.context import PermissionContext
from permissions.decision import Behavior, Reason
from permissions.evaluate.part_verdict import Find, Part
from permissions.matching.match_domain import host_of
from permissions.matching.match_tool import Anchors, Call, first_match
from permissions.mode import Mode
from permissions.paths.resolve import Target
from permissions.request import PermissionRequest
from permissions.rules.rule_set import Rule, RuleBehavior, RuleSet
from permissions.scope.scope import Floor, Scope, check_address, check_budget, check_host, strictest
from permissions.tool_names import EDIT_TOOLS, FREE_TOOLS, READ_TOOLS, is_known_tool


def tool_part(
    request: PermissionRequest,
    tool: str,
    context: PermissionContext,
    mode: Mode,
    rules: RuleSet,
    base: str,
) -> tuple[Part, Find]:
    """Return the one part of such a call, and what finds rules; `tool` is the canonical name."""
    scope = Scope.of(context, mode)
    target: Target | None = None
    host: str | None = None
    floors: list[Floor | None] = [check_budget(context)]
    if tool in EDIT_TOOLS:
        written = request.tool_input.get(EDIT_TOOLS[tool])
        if written is None and tool == "NotebookEdit":
            written = request.tool_input.get("file_path")
        target, unclear = _target(written, scope, base)
        floors.append(unclear or scope.check_write(target, str(written)))
    elif tool in READ_TOOLS:
        written = _where(tool, request.tool_input)
        target, unclear = _target(written, scope, base)
        floors.append(unclear or scope.check_read(target, str(written)))
    elif tool == "WebFetch":
        host = host_of(request.tool_input.get("url"))
        floors.extend((check_host(context.blocked_hosts, host), check_address(host)))
        if host is None:
            floors.append(
                Floor(Behavior.ASK, Reason.UNPARSABLE, "the address has no host that can be read")
            )
    elif not is_known_tool(tool):
        floors.append(
            Floor(Behavior.ASK, Reason.UNKNOWN_TOOL, f"there is no tool {request.tool!r}")
        )
    call = Call(tool, request.tool_input, target, host)
    anchors = Anchors(context, base, scope.files)

    def find(behavior: RuleBehavior) -> Rule | None:
        return first_match(rules, behavior, call, anchors)

    part = Part(
        text=describe(request),
        kind="tool",
        floor=strictest(floors),
        is_write=tool in EDIT_TOOLS,
        is_free=tool in READ_TOOLS or tool in FREE_TOOLS,
        is_edit=tool in EDIT_TOOLS,
    )
    return part, find


def describe(request: PermissionRequest) -> str:
    """Return the call in one line, e.g. `Read(src/a.py)`."""
    for key in ("command", "file_path", "notebook_path", "path", "url", "skill", "pattern"):
        value = request.tool_input.get(key)
        if isinstance(value, str) and value:
            return f"{request.tool}({value})"
    return request.tool


def _target(written: object, scope: Scope, base: str) -> tuple[Target | None, Floor | None]:
    if not isinstance(written, str) or not written or "\x00" in written:
        shown = json.dumps(written, default=str)
        return None, Floor(Behavior.ASK, Reason.UNPARSABLE, f"the path {shown} cannot be read")
    return scope.resolve(written, base), None


def _where(tool: str, tool_input: Mapping[str, object]) -> object:
    written = tool_input.get(READ_TOOLS[tool])
    if tool in ("Glob", "Grep", "LS") and (written is None or written == ""):
        written = "."
    pattern = tool_input.get("pattern")
    if tool == "Glob" and isinstance(pattern, str) and isinstance(written, str):
        fixed = _fixed_part(pattern)
        if fixed.startswith(("/", "~")):
            return fixed
        return f"{written.rstrip('/') or '/'}/{fixed}" if fixed else written
    return written


def _fixed_part(pattern: str) -> str:
    """Return the folder below which a glob searches: its components before a wildcard.

    Any dot-dot, also one behind a wildcard, is kept so that it counts against the scope.
    """
    fixed: list[str] = []
    climbs = 0
    wild = False
    for component in pattern.split("/"):
        if wild:
            climbs += component == ".."
            continue
        if any(mark in component for mark in "*?[{"):
            wild = True
            continue
        fixed.append(component)
    return "/".join([*fixed, *([".."] * climbs)])
