"""The entry point: the servers of a session, their states, what they offer, calls to them.

The SDK is loaded with the first server.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from agent.mcp.auth.needs_auth_cache import NeedsAuthCache
from agent.mcp.auth.sign_in_surface import SignInAttempt, SignInSurface
from agent.mcp.auth.token_store import TokenStore
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_errors import ConnectFailed, ServerUnavailable
from agent.mcp.mcp_limits import limits_from
from agent.mcp.server_access import McpWorld, ServerAccess
from agent.mcp.server_offer import (
    CallResult,
    RemoteMessage,
    RemotePrompt,
    RemoteResource,
    ResourceContent,
)
from agent.mcp.server_owner import OnProgress, ServerOwner
from agent.mcp.server_requests import McpPorts
from agent.mcp.server_state import ServerState, ServerView
from agent.mcp.start_turns import StartTurns

CLOSE_S = 4.0
"""Seconds for all servers to end; the guardian ends the others."""
CLIENT_METADATA = "AGENT_TUI_MCP_CLIENT_METADATA_URL"
OnView = Callable[[ServerView], None]


class McpServers:
    """The servers of one session."""

    def __init__(
        self,
        ports: McpPorts,
        *,
        env: Mapping[str, str],
        settings_env: Mapping[str, str],
        launch_dir: Path,
        agent_home: Path,
        version: str,
    ) -> None:
        """Start nothing yet.

        Args:
            env: Environment for programs that this one starts.
            settings_env: Environment from which time limits are read.
        """
        limits = limits_from(settings_env)
        self._world = McpWorld(
            ports=ports,
            limits=limits,
            env=env,
            launch_dir=launch_dir,
            agent_home=agent_home,
            version=version,
            tokens=TokenStore(agent_home / "mcp"),
            needs_auth=NeedsAuthCache(agent_home / "mcp"),
            client_metadata_url=settings_env.get(CLIENT_METADATA) or None,
            local_turns=StartTurns(limits.local_batch),
            remote_turns=StartTurns(limits.remote_batch),
        )
        self._owners: dict[str, ServerOwner] = {}
        self._listeners: list[OnView] = []

    def start(self, definitions: Sequence[ServerDefinition]) -> None:
        """Connect to these servers in the background; return at once."""
        for definition in definitions:
            if definition.name not in self._owners:
                self._add(definition).start()

    def show(self, definition: ServerDefinition, state: ServerState, reason: str) -> None:
        """Show a server that is not started; it replaces one of the same name."""
        self._add(definition).show(state, reason)

    async def replace(self, definition: ServerDefinition) -> None:
        """Start a server that is new or has a changed definition."""
        await self.remove(definition.name)
        self.start([definition])

    async def remove(self, name: str) -> None:
        """Stop and remove a server; an unknown name is not an error."""
        owner = self._owners.pop(name, None)
        if owner is not None:
            await owner.stop()

    async def reconnect(self, name: str) -> None:
        """Close and reopen a connection. Raises ServerUnavailable for an unknown name."""
        owner = self._owner(name)
        await owner.stop()
        owner.access.asks_anew = True
        owner.start()

    async def sign_in(self, name: str, surface: SignInSurface) -> ServerView:
        """Reconnect and let the user sign in; return the resulting view.

        Raises:
            ServerUnavailable: there is no such server.
            ConnectFailed: the server has no sign-in, or no local port is free.
        """
        owner = self._owner(name)
        if not owner.access.can_sign_in:
            raise ConnectFailed(f"{name} has nothing to sign in to: its key is configured")
        await owner.stop()
        receiver = await owner.access.receiver()
        attempt = owner.access.attempt = SignInAttempt(surface, receiver)
        try:
            await owner.access.sign_out()
            owner.start()
            await owner.wait_until_settled()
        finally:
            owner.access.attempt = None
            attempt.is_over = True
            await receiver.aclose()
        return owner.view

    async def sign_out(self, name: str) -> None:
        """Remove a server's tokens and close its connection. Raises ServerUnavailable, OSError."""
        owner = self._owner(name)
        await owner.access.sign_out()
        await owner.stop(ServerState.NEEDS_AUTH, "you signed out")

    async def enable(self, name: str) -> None:
        """Start a server. Raises ServerUnavailable for an unknown name."""
        self._owner(name).start()

    async def disable(self, name: str, reason: str = "") -> None:
        """Close a server's connection. Raises ServerUnavailable for an unknown name."""
        await self._owner(name).stop(ServerState.DISABLED, reason)

    async def settle(self, names: Collection[str] | None = None, *, timeout_s: float) -> None:
        """Wait until none of these servers (None: all) is connecting, at most `timeout_s`."""
        waiting = [
            asyncio.ensure_future(owner.wait_until_settled())
            for name, owner in self._owners.items()
            if names is None or name in names
        ]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=timeout_s)
            for task in late:
                task.cancel()

    def views(self) -> tuple[ServerView, ...]:
        """Return the current views of all servers, in the order in which they were added."""
        return tuple(owner.view for owner in self._owners.values())

    def view(self, name: str) -> ServerView | None:
        """Return the current view of one server; None if there is none."""
        owner = self._owners.get(name)
        return owner.view if owner is not None else None

    def on_change(self, listener: OnView) -> Callable[[], None]:
        """Add a listener for each new view; return a function that removes it."""
        self._listeners.append(listener)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def list_again(self, name: str) -> None:
        """Reload a server's tools, as the withheld ones may have changed."""
        self._owner(name).list_again()

    async def call_tool(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, object],
        *,
        on_progress: OnProgress = lambda _amount, _total, _message: None,
    ) -> CallResult:
        """Call a tool by the server's name for it. Cancelling the call also cancels it at the
        server.

        Raises:
            McpError: the server is not connected, failed, or did not respond in time.
        """
        owner = self._owner(server)
        is_reading = any(
            one.name == tool and one.hints.read_only is True for one in owner.view.tools
        )
        return await owner.call_tool(
            tool, arguments, on_progress=on_progress, is_alone=not is_reading
        )

    async def read_resource(self, server: str, uri: str) -> tuple[ResourceContent, ...]:
        """Return the parts of a resource. Raises McpError."""
        return await self._owner(server).ask(lambda session: session.read_resource(uri))

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str]
    ) -> tuple[RemoteMessage, ...]:
        """Return the messages of a prompt. Raises McpError."""
        return await self._owner(server).ask(lambda session: session.get_prompt(name, arguments))

    async def complete(
        self,
        of: RemotePrompt | RemoteResource,
        argument: str,
        value: str,
        others: Mapping[str, str],
    ) -> tuple[str, ...]:
        """Return completions for an argument of a prompt or a template. Raises McpError."""
        return await self._owner(of.server).ask(
            lambda session: session.complete(of, argument, value, others)
        )

    async def roots_changed(self) -> None:
        """Notify connected servers that the working directories changed."""
        owners = [
            owner for owner in self._owners.values() if owner.view.state is ServerState.CONNECTED
        ]
        await asyncio.gather(
            *(owner.ask(lambda session: session.roots_changed()) for owner in owners),
            return_exceptions=True,
        )

    async def aclose(self) -> None:
        """Stop all servers concurrently, at most `CLOSE_S` seconds."""
        self._listeners.clear()
        ending = [asyncio.ensure_future(owner.stop()) for owner in self._owners.values()]
        if ending:
            await asyncio.wait(ending, timeout=CLOSE_S)

    def _add(self, definition: ServerDefinition) -> ServerOwner:
        owner = ServerOwner(ServerAccess(definition, self._world), self._notify_listeners)
        self._owners[definition.name] = owner
        return owner

    def _owner(self, name: str) -> ServerOwner:
        owner = self._owners.get(name)
        if owner is None:
            raise ServerUnavailable(f"There is no MCP server named {name}.")
        return owner

    def _notify_listeners(self, view: ServerView) -> None:
        for listener in tuple(self._listeners):
            listener(view)
