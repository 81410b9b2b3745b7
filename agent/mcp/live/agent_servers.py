"""Servers of agents' definitions, connected while such agents run.

Their tools are offered only to these agents. Concurrent agents share a connection.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.live.live_servers import LiveServers
from agent.mcp.server_state import ServerState, ServerView
from agent.settings.servers.mcp_file import McpServerText
from agent.tools.base import AnyTool

CONNECT_S: Final = 30.0


class OpenServers(Struct, frozen=True):
    """The servers opened for one agent."""

    tools: tuple[AnyTool, ...]
    problems: tuple[str, ...]
    """A sentence for each server that is not available, with the reason."""
    close: Callable[[], Awaitable[None]]
    """Closes connections that no other agent uses."""


class AgentServers:
    """Opens servers of agents, in addition to those of the conversation."""

    def __init__(self, live: LiveServers, build: Callable[[ServerView], Sequence[AnyTool]]) -> None:
        """`build` makes the tools of a server."""
        self._live = live
        self._build = build
        self._users: Counter[str] = Counter()
        self._one_at_a_time = asyncio.Lock()

    async def open(self, texts: Sequence[McpServerText]) -> OpenServers:
        """Connect to those of the servers that the user and the settings allow."""
        problems: list[str] = []
        names: list[str] = []
        servers = self._live.servers
        async with self._one_at_a_time:
            for server in await self._live.judge_servers(texts):
                definition = server.definition
                if problem := self._refusal(server):
                    problems.append(problem)
                    continue
                names.append(definition.name)
                self._users[definition.name] += 1
                self._live.agent_only_names.add(definition.name)
                servers.start([definition])
        try:
            await servers.settle(names, timeout_s=CONNECT_S)
        except asyncio.CancelledError:
            await self._close(names)
            raise
        views = [view for name in names if (view := servers.view(name)) is not None]
        problems += [
            f"The MCP server {view.name} is not connected: {view.reason}."
            for view in views
            if view.state is not ServerState.CONNECTED
        ]
        tools = tuple(tool for view in views for tool in self._build(view))

        async def close() -> None:
            await self._close(names)

        return OpenServers(tools, tuple(problems), close)

    async def refusals(self, texts: Sequence[McpServerText]) -> tuple[str, ...]:
        """Ask the user about these servers; return a sentence for each that is not started."""
        async with self._one_at_a_time:
            servers = await self._live.judge_servers(texts)
        return tuple(filter(None, map(self._refusal, servers)))

    def _refusal(self, server: ConfiguredServer) -> str:
        """Return a sentence with the reason why a server is not started; empty if it is."""
        definition = server.definition
        if server.standing != "may_start":
            return f"The MCP server {definition.name} is not started ({server.reason})."
        if self._is_taken(definition):
            return f"The MCP server {definition.name} is not started: another server has this name."
        return ""

    def _is_taken(self, definition: ServerDefinition) -> bool:
        view = self._live.servers.view(definition.name)
        if self._live.configuration.get(definition.name) is not None:
            return True
        return view is not None and view.definition.digest != definition.digest

    async def _close(self, names: Sequence[str]) -> None:
        for name in names:
            self._users[name] -= 1
            if not self._users[name]:
                self._live.agent_only_names.discard(name)
            if not self._users[name] and self._live.configuration.get(name) is None:
                await self._live.servers.remove(name)
