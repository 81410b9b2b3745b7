"""Temporary connections to MCP servers for `agent-tui mcp`: states, signing in and out."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_confinement import server_confinement
from agent.mcp.server_requests import McpPorts
from agent.mcp.server_state import ServerState, ServerView
from agent.permission_config.permission_context import permission_setup
from agent.sandbox.configuration.sandbox_settings import sandbox_settings
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import Sandbox
from agent.settings.load import Settings
from permissions.base.process.child_environment import child_environment
from permissions.base.text.sanitize import reveal
from tui.terminal.open_address import open_address
from tui.version import version

if TYPE_CHECKING:
    from agent.mcp.auth.sign_in_surface import SignInSurface

WAIT_S: Final = 35.0
STATUS: Final = {
    ServerState.CONNECTED: "✔ Connected",
    ServerState.NEEDS_AUTH: "! Needs authentication",
    ServerState.FAILED: "✘ Failed to connect",
    ServerState.PENDING: "✘ Failed to connect: no answer in time",
    ServerState.DISABLED: "⊘ Disabled",
}


async def check_servers(
    settings: Settings, definitions: Sequence[ServerDefinition]
) -> dict[str, ServerView]:
    """Connect to servers, and return their states by name."""
    if not definitions:
        return {}
    async with _servers(settings) as servers:
        servers.start(definitions)
        await servers.settle(timeout_s=WAIT_S)
        return {view.name: view for view in servers.views()}


async def sign_in(
    settings: Settings, definition: ServerDefinition, *, opens_browser: bool
) -> ServerView:
    """Sign in to a server. Raises McpError."""
    async with _servers(settings) as servers:
        servers.show(definition, ServerState.NEEDS_AUTH, "")
        return await servers.sign_in(definition.name, TerminalSignIn(opens_browser=opens_browser))


async def sign_out(settings: Settings, definition: ServerDefinition) -> None:
    """Delete the tokens for a server. Raises McpError, OSError."""
    async with _servers(settings) as servers:
        servers.show(definition, ServerState.NEEDS_AUTH, "")
        await servers.sign_out(definition.name)


@asynccontextmanager
async def _servers(settings: Settings) -> AsyncIterator[McpServers]:
    sandbox_values = sandbox_settings(settings)
    with tempfile.TemporaryDirectory(prefix="agent-tui-") as scratch:
        setup = permission_setup(
            settings, bypass_available=False, scratch_dir=Path(os.path.realpath(scratch))
        )
        sandbox = Sandbox(
            await asyncio.to_thread(probe, sandbox_values.bubblewrap or None),
            lambda: setup.context,
            state_dir=settings.agent_home / "sandbox",
            user_env=lambda: {**os.environ, **settings.own_env},
            settings=lambda: sandbox_values,
        )
        servers = McpServers(
            McpPorts(confine=server_confinement(sandbox, lambda: False)),
            env=child_environment(os.environ, settings.own_env),
            settings_env=os.environ,
            launch_dir=settings.launch_dir,
            agent_home=settings.agent_home,
            version=version(),
        )
        try:
            yield servers
        finally:
            await servers.aclose()


class TerminalSignIn:
    """Shows the address, and reads from standard input the one that the browser was sent to."""

    def __init__(self, *, opens_browser: bool) -> None:
        """`opens_browser`: whether to open the address instead of only showing it."""
        self._opens_browser = opens_browser

    async def show(self, url: str) -> None:
        """Open an address in the browser, and show it."""
        is_browser_open = self._opens_browser and open_address(url)
        lead = "Your browser opens this address:" if is_browser_open else "Open this address:"
        click.echo(f"{lead}\n{reveal(url)}", err=True)
        if sys.stdin.isatty():
            click.echo("If it ends at an address that cannot be reached, paste it here:", err=True)

    async def read_pasted_address(self) -> str:
        """Return the typed line; wait forever if standard input is not a terminal."""
        loop, input_event = asyncio.get_running_loop(), asyncio.Event()
        while sys.stdin.isatty():
            # Not in a thread, which could not be ended when the browser completes the sign-in.
            loop.add_reader(sys.stdin.fileno(), input_event.set)
            try:
                await input_event.wait()
            finally:
                loop.remove_reader(sys.stdin.fileno())
            input_event.clear()
            if (line := sys.stdin.readline()).strip():
                return line
        return await asyncio.Future()


def run_check(settings: Settings, definition: ServerDefinition) -> ServerView:
    """Connect to one server and return its state."""
    return asyncio.run(check_servers(settings, [definition]))[definition.name]


def click_error(error: McpError | OSError) -> click.ClickException:
    """Return the exception that ends the command with this error's text."""
    return click.ClickException(reveal(str(error)))


if TYPE_CHECKING:

    def _check_protocol(surface: TerminalSignIn) -> SignInSurface:
        return surface
