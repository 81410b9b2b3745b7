"""`--permission-prompt-tool mcp__server__tool`: a server's tool answers permission requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from agent.headless.control_protocol import NoAnswer, decision_of
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_text import call_for_text
from agent.mcp.tool_names import split_name
from permissions.decision import Decision
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender

CONNECT_S: Final = 60.0
"""How long an ask waits for the server to connect."""


class PermissionTool:
    """Asks the tool in place of a dialog; without a valid answer the call does not run."""

    name = "dialog"

    def __init__(self, tool: str) -> None:
        """`tool` is the full name. Without `connect`, every request fails."""
        self._tool = tool
        self._servers: Callable[[], McpServers | None] = lambda: None

    def connect(self, servers: Callable[[], McpServers | None]) -> None:
        """Use `servers`, which returns the servers of the conversation, or None if it has none."""
        self._servers = servers

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return the tool's decision.

        Raises:
            NoAnswer: there is no such tool, it failed, or its answer is invalid.
        """
        servers = self._servers()
        if servers is None:
            raise NoAnswer(f"{self._tool}: no MCP server is configured")
        arguments = {
            "tool_name": request.tool,
            "input": dict(request.tool_input),
            "tool_use_id": request.tool_use_id,
        }
        try:
            server, remote = await self._find(servers)
            text = await call_for_text(lambda: servers)(server, remote, arguments)
        except McpError as error:
            raise NoAnswer(f"{self._tool}: {error}") from error
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise NoAnswer(f"{self._tool} did not answer with JSON") from error
        if not isinstance(answer, Mapping):
            raise NoAnswer(f"{self._tool} did not answer with an object")
        return decision_of(answer, request)

    async def _find(self, servers: McpServers) -> tuple[str, str]:
        """Wait for the server; return its name and its own name for the tool. Raises NoAnswer."""
        names = split_name(self._tool, [view.name for view in servers.views()])
        if names is None:
            raise NoAnswer(f"{self._tool}: there is no such MCP server")
        server = names[0]
        await servers.settle([server], timeout_s=CONNECT_S)
        view = servers.view(server)
        for tool in view.tools if view is not None else ():
            if tool.full_name == self._tool:
                return server, tool.name
        state = view.state if view is not None else "gone"
        raise NoAnswer(f"{self._tool}: {server} ({state}) has no such tool")


if TYPE_CHECKING:

    def _check_protocol(tool: PermissionTool) -> Contender:
        return tool
