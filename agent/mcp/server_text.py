"""Calls a server's tool for its text, for hooks and permission decisions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from agent.mcp.mcp_errors import RemoteError
from agent.mcp.mcp_servers import McpServers

CallForText = Callable[[str, str, Mapping[str, object]], Awaitable[str]]


def call_for_text(servers: Callable[[], McpServers]) -> CallForText:
    """Return a function that calls a tool by server, name and input, and returns its text.

    It raises `McpError` if the server is not connected, fails, or reports an error.
    """

    async def call(server: str, tool: str, tool_input: Mapping[str, object]) -> str:
        result = await servers().call_tool(server, tool, tool_input)
        texts = (str(block.get("text", "")) for block in result.content)
        text = "\n".join(filter(None, texts))
        if result.is_error:
            raise RemoteError(text or "the tool failed", 0)
        return text

    return call
