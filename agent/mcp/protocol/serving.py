"""The server side of the protocol: our tools for other programs, over standard streams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from agent.tools.base import AnyTool, ToolOutcome

Call = Callable[[str, Mapping[str, object]], Awaitable[ToolOutcome]]
_Context: TypeAlias = ServerRequestContext[dict[str, object]]


async def serve_tools(tools: Sequence[AnyTool], call: Call, version: str) -> None:
    """Offer tools until standard input ends; `call` runs one and never raises."""

    async def list_tools(
        _context: _Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe_tool(tool) for tool in tools])

    async def call_tool(
        _context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        outcome = await call(params.name, params.arguments or {})
        return types.CallToolResult(content=_content(outcome), is_error=outcome.is_error)

    server: Server[dict[str, object]] = Server(
        "agent-tui", version=version, on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _describe_tool(tool: AnyTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _content(outcome: ToolOutcome) -> list[types.ContentBlock]:
    if isinstance(outcome.content, str):
        return [types.TextContent(type="text", text=outcome.content)]
    blocks: list[types.ContentBlock] = []
    for block in outcome.content:
        source = block.get("source")
        if block["type"] == "image" and isinstance(source, dict):
            picture = types.ImageContent(
                type="image", data=str(source["data"]), mime_type=str(source["media_type"])
            )
            blocks.append(picture)
        else:
            text = str(block.get("text", "[a document, which cannot be sent this way]"))
            blocks.append(types.TextContent(type="text", text=text))
    return blocks
