"""MCP tool hooks: a tool of a connected server receives an input built from the event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from hooks.answers.response import HandlerOutcome, HandlerResult, Printed, judge_printed
from hooks.config.spec import McpToolHandler
from hooks.execution.handlers.hook_call import HookCall
from permissions.base.text.late_pattern import compile_late

NO_MCP: Final = "the MCP server {server!r} cannot be reached: no MCP servers are connected here"
REFERENCE: Final = compile_late(r"\$\{([A-Za-z_][\w.]*)\}")


class McpToolHandlerMode:
    """Calls MCP tools."""

    async def run(self, call: HookCall) -> HandlerResult:
        """Call the tool and judge its text like a command's standard output."""
        handler = call.spec.handler
        assert isinstance(handler, McpToolHandler)
        failure = HandlerResult(call.spec, HandlerOutcome.NON_BLOCKING_ERROR)
        if call.ports.call_mcp_tool is None:
            return replace(failure, error=NO_MCP.format(server=handler.server))
        arguments = {name: fill(value, call.payload) for name, value in handler.input.items()}
        text = await call.ports.call_mcp_tool(handler.server, handler.tool, arguments)
        result = judge_printed(call.spec, Printed(0, text.encode(), b"", payload=call.payload))
        return replace(result, exit_code=None)


def fill(value: object, payload: Mapping[str, object]) -> object:
    """Insert values of the event where an input has `${tool_input.file_path}`.

    A text that is a single reference becomes the value itself, of any type; an unknown reference
    becomes empty text.
    """
    match value:
        case str():
            whole = REFERENCE.fullmatch(value)
            if whole is not None:
                lookup = _lookup(whole.group(1), payload)
                return "" if lookup is None else lookup
            return REFERENCE.sub(lambda part: _as_text(_lookup(part.group(1), payload)), value)
        case Mapping():
            return {name: fill(inner, payload) for name, inner in value.items()}
        case list():
            return [fill(inner, payload) for inner in value]
        case _:
            return value


def _lookup(path: str, payload: Mapping[str, object]) -> object:
    node: object = payload
    for name in path.split("."):
        if not isinstance(node, Mapping):
            return None
        node = node.get(name)
    return node


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
