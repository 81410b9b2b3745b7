"""Servers under test: definitions of the plain server, and a hub that ends with the test."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_requests import McpPorts
from agent.mcp.server_state import ServerState, ServerView

PLAIN = Path(__file__).with_name("plain_server.py")


def plain(mode: str = "", *, name: str = "plain", **changes: object) -> ServerDefinition:
    """Return the definition of the plain server in a mode."""
    arguments = ("-I", "-S", str(PLAIN), mode)
    return definition({"name": name, "command": sys.executable, "args": arguments, **changes})


def definition(changes: Mapping[str, object]) -> ServerDefinition:
    """Return a user's server, local where nothing else is said."""
    fields: dict[str, object] = {
        "transport": "stdio",
        "scope": "user",
        "is_foreign": False,
        "entry": {},
        "digest": "digest",
        **changes,
    }
    return ServerDefinition(**fields)  # type: ignore[arg-type]  # the fields as given


@asynccontextmanager
async def running(
    home: Path,
    *definitions: ServerDefinition,
    ports: McpPorts | None = None,
    settings_env: Mapping[str, str] | None = None,
) -> AsyncIterator[McpServers]:
    """Start servers and wait until none is being connected any more."""
    servers = McpServers(
        ports or McpPorts(),
        env=dict(os.environ),
        settings_env=settings_env or {},
        launch_dir=home,
        agent_home=home / "agent-home",
        version="0",
    )
    try:
        servers.start(definitions)
        await servers.settle(timeout_s=60)
        yield servers
    finally:
        await servers.aclose()


async def until(servers: McpServers, name: str, is_so: Callable[[ServerView], bool]) -> ServerView:
    """Return a server's view once it is as wanted."""
    seen = asyncio.Event()
    end = servers.on_change(lambda _view: seen.set())
    try:
        while not is_so(view := of(servers, name)):
            await seen.wait()
            seen.clear()
    finally:
        end()
    return view


def of(servers: McpServers, name: str = "plain") -> ServerView:
    """Return a server's view."""
    view = servers.view(name)
    assert view is not None
    return view


def connected(view: ServerView) -> bool:
    """Whether it is."""
    return view.state is ServerState.CONNECTED
