"""MCP servers of an agent, with the program's connections: restarts, limits, sign-in.

    async with MCPServerStdio({"command": "uvx", "args": ["mcp-server-time"]}) as server:
        agent = Agent("Clock", mcp_servers=[server])

Their tools pass the gate as `mcp__<server>__<tool>`, like those of the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypedDict

from agent.library.base.raw_items import DictItem, RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.program.program_setup import read_setup
from agent.mcp.configuration.server_definition import ServerDefinition, Transport
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_limits import limits_from
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_requests import McpPorts
from agent.mcp.server_state import ServerState

GRACE_S: Final = 5.0
"""Grace period, in seconds, after a connection attempt reached its limit (`MCP_TIMEOUT`)."""


class StdioParams(TypedDict, total=False):
    """How a server's program is started."""

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str | Path


class HttpParams(TypedDict, total=False):
    """How a server is reached over HTTP."""

    url: str
    headers: Mapping[str, str]


class MCPServer:
    """One server; use it with `async with`, or `connect` and `cleanup`."""

    def __init__(self, definition: ServerDefinition) -> None:
        """Start nothing yet; derived classes build the definition."""
        self._definition = definition
        self._servers: McpServers | None = None

    @property
    def name(self) -> str:
        """The server's name, which is part of its tools' names in rules and hooks."""
        return self._definition.name

    async def connect(self) -> None:
        """Start the server or connect to it.

        Raises:
            UserError: the server cannot be reached.
        """
        setup = read_setup()
        environment = setup.environment
        directory = environment.launch_dir
        limits_env = {**environment.env, **setup.settings.own_env}
        self._servers = McpServers(
            McpPorts(roots=lambda: (directory,)),
            env=dict(environment.env),
            settings_env=limits_env,
            launch_dir=directory,
            agent_home=environment.agent_home,
            version=environment.version,
        )
        self._servers.start([self._definition])
        await self._servers.settle(timeout_s=limits_from(limits_env).connect_s + GRACE_S)
        view = self._servers.view(self.name)
        if view is None or view.state is not ServerState.CONNECTED:
            await self.cleanup()
            reason = view.reason if view is not None else ""
            raise UserError(f"The MCP server {self.name!r} cannot be reached: {reason}")

    async def cleanup(self) -> None:
        """Close the connection, and stop the server if it was started here."""
        if self._servers is not None:
            await self._servers.aclose()
            self._servers = None

    async def __aenter__(self) -> Self:
        """Connect. Raises as `connect`."""
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        await self.cleanup()

    async def list_tools(self, run_context: RawItem = None, agent: RawItem = None) -> list[RawItem]:
        """Return the server's current tools. Raises UserError if not connected."""
        view = self._require_servers().view(self.name)
        return [
            DictItem(
                name=tool.name,
                description=tool.description,
                inputSchema=dict(tool.input_schema),
                rule_name=tool.full_name,
            )
            for tool in (view.tools if view is not None else ())
        ]

    async def call_tool(self, tool_name: str, arguments: Mapping[str, RawItem] | None) -> RawItem:
        """Call a tool; return its result with `content` and `isError`. Raises UserError."""
        try:
            result = await self._require_servers().call_tool(self.name, tool_name, arguments or {})
        except McpError as error:
            raise UserError(f"{tool_name} of the MCP server {self.name!r}: {error}") from error
        content = [DictItem(block) for block in result.content]
        return DictItem(content=content, isError=result.is_error)

    def _require_servers(self) -> McpServers:
        if self._servers is None:
            raise UserError(f"The MCP server {self.name!r} is not connected: use `async with`.")
        return self._servers


class MCPServerStdio(MCPServer):
    """A server that is a program on this machine, started by `connect`."""

    def __init__(self, params: StdioParams, *, name: str | None = None) -> None:
        """`name` defaults to one derived from the command."""
        command = params["command"]
        super().__init__(
            _definition(
                name or Path(command).name,
                "stdio",
                command=command,
                args=tuple(params.get("args", ())),
                env=dict(params.get("env", {})),
                cwd=Path(params.get("cwd", os.curdir)).absolute(),
            )
        )


class MCPServerStreamableHttp(MCPServer):
    """A server that is reached by URL."""

    def __init__(self, params: HttpParams, *, name: str = "http") -> None:
        """`name` is part of the tools' names in rules and hooks."""
        headers = dict(params.get("headers", {}))
        super().__init__(_definition(name, "http", url=params["url"], headers=headers))


def _definition(name: str, transport: Transport, **fields: RawItem) -> ServerDefinition:
    return ServerDefinition(
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", name),
        transport=transport,
        scope="dynamic",
        is_foreign=False,
        entry={},
        digest="",
        is_confined=False,
        **fields,
    )
