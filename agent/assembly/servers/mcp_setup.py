"""The MCP servers of a conversation; MCP is only imported once a server is configured."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.assembly.hook_setup import HookParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.servers.own_servers import own_servers
from agent.assembly.start_context import StartContext
from agent.assembly.tool_setup import ToolParts
from agent.assembly.wiring import LateParts, SharedState
from agent.conversation_facts import ServerSummary
from agent.errors import AgentError, FlagError
from agent.permission_config.permission_context import Grants
from agent.prompt.system import note
from agent.settings.locations import POLICY_DIR
from agent.subagents.definition import AgentDefinition
from permissions.base.files.plain_file import read_plain

if TYPE_CHECKING:
    from agent.conversation.conversation_ports import Reminders
    from agent.mcp.live.agent_servers import AgentServers, OpenServers
    from agent.mcp.mcp_servers import McpServers

CONNECT_VARIABLE: Final = "MCP_CONNECT_TIMEOUT_MS"
TIMEOUT_VARIABLE: Final = "MCP_TIMEOUT"
MANAGED_FILE: Final = "managed-mcp.json"
_MAX_BYTES: Final = 50_000_000
_CONNECT_MS: Final = 5_000
_TIMEOUT_MS: Final = 30_000


async def has_servers(start: StartContext) -> bool:
    """Return whether a server is configured. Raises FlagError if `--mcp-config` is forbidden."""
    if not start.options.mcp_configs and start.is_demo:
        return False
    if start.options.mcp_configs and (POLICY_DIR / MANAGED_FILE).exists():
        raise FlagError(
            "--mcp-config: servers cannot be named here, because a managed file lists those that "
            "may be used."
        )
    return await asyncio.to_thread(_may_have_servers, start)


def _may_have_servers(start: StartContext) -> bool:
    """Whether a server may be configured; a quick check without parsing."""
    settings = start.settings
    if start.lead is not None and start.lead.own_servers:
        return True
    if any(_plugin_has_servers(root) for root in start.plugins_with_servers):
        return True
    if settings.mcp_servers or settings.bad_mcp_servers or (POLICY_DIR / MANAGED_FILE).exists():
        return True
    return _mentions_servers(settings.home / ".claude.json")


def _plugin_has_servers(plugin: Path) -> bool:
    return (plugin / ".mcp.json").exists() or _mentions_servers(
        plugin / ".claude-plugin" / "plugin.json"
    )


def _mentions_servers(file: Path) -> bool:
    try:
        return b'"mcpServers"' in read_plain(file, _MAX_BYTES)
    except OSError:
        return False


class McpSetup:
    """Starts the servers with the conversation, and follows changes of the settings."""

    def __init__(
        self,
        start: StartContext,
        late: LateParts,
        state: SharedState,
        *,
        model: ModelParts,
        hooks: HookParts,
        tools: ToolParts,
        is_wanted: bool,
    ) -> None:
        """Load nothing yet; `begin` does if `is_wanted`, else a later change of settings."""
        self._start = start
        self._late = late
        self._state = state
        self._model = model
        self._hooks = hooks
        self._tools = tools
        self._is_wanted = is_wanted
        self._making: asyncio.Task[None] | None = None
        self._of_agents: AgentServers | None = None
        late.open_servers.bind(self.open_for)
        late.ask_about_servers.bind(self.ask_about)

    def begin(self, grants: Grants) -> None:
        """Load and start the configured servers in the background; `grants` stores rules."""
        grants.on_allowed = self._bind_stored
        self._start.current_settings.on_change(self._follow)
        if self._is_wanted:
            self._start_loading()

    def _start_loading(self) -> None:
        task = asyncio.create_task(self._load(), name="MCP servers")
        self._making = self._late.making_servers.bind(task)

    async def _load(self) -> None:
        # In a thread, because the import takes longer than a frame.
        await asyncio.to_thread(importlib.import_module, "agent.assembly.servers.mcp_parts")
        from agent.assembly.servers.mcp_parts import live_servers

        live, self._of_agents = live_servers(
            self._start,
            self._late,
            model=self._model,
            hooks=self._hooks,
            tools=self._tools,
        )
        self._late.mcp.bind(live)
        try:
            await live.begin()
        except Exception as error:  # noqa: BLE001 - isolation boundary: the conversation continues
            self._start.warn(f"MCP servers are not started: {error}")

    def _bind_stored(self, rules: Sequence[str]) -> None:
        live = self._late.servers_or_none()
        if live is not None:
            live.rules.bind_stored(rules)

    def _follow(self) -> None:
        if self._late.mcp.is_bound:
            self._state.background.start(self._late.mcp().follow_settings())
        elif self._making is None and _may_have_servers(self._start):
            self._start_loading()

    async def open_for(self, definition: AgentDefinition) -> OpenServers:
        """Connect to an agent's own servers; loads MCP if necessary.

        Raises:
            AgentError: MCP cannot be used here.
        """
        return await (await self._make_servers()).open(own_servers(definition))

    async def ask_about(self, definition: AgentDefinition) -> Sequence[str]:
        """Ask the user about the servers that a worker of this kind will start; return the reasons
        for those that are not started. Raises AgentError like `open_for`."""
        if not definition.own_servers:
            return ()
        return await (await self._make_servers()).refusals(own_servers(definition))

    async def _make_servers(self) -> AgentServers:
        if self._making is None:
            self._start_loading()
        await self._late.servers_made()
        if self._of_agents is None:
            raise AgentError("Its MCP servers cannot be started: MCP could not be loaded.")
        return self._of_agents

    async def ready(self) -> None:
        """Wait for what the first prompt needs; headless, for all servers within a time limit."""
        if self._making is None:
            return
        await asyncio.shield(self._making)
        options, env = self._start.options, self._start.environment.env
        limit: float | None = None
        if options.headless and options.mcp_configs:
            limit = _seconds(env.get(TIMEOUT_VARIABLE), _TIMEOUT_MS)
        elif options.headless:
            limit = _seconds(env.get(CONNECT_VARIABLE), _CONNECT_MS)
        await self._late.mcp().ready(timeout_s=limit)

    def hub(self) -> McpServers | None:
        """Return the connections; None before MCP is loaded."""
        live = self._late.servers_or_none()
        return live.servers if live is not None else None

    async def summary(self) -> ServerSummary:
        """Return the servers once the first prompt may begin.

        Raises:
            ServerRequired: a server that the run requires is not connected.
        """
        await self.ready()
        live = self._late.servers_or_none()
        return live.summary() if live is not None else ServerSummary()

    def before_start(self, hooks: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """Return a function that runs the start-up hooks and waits for the servers meanwhile."""

        async def run() -> None:
            await asyncio.gather(hooks(), self.ready())

        return run

    def reminders(self, inner: Reminders) -> ServerReminders:
        """Return reminders that also tell the model about the servers."""
        return ServerReminders(inner, self._late)

    async def aclose(self) -> None:
        """Stop loading, and end all servers."""
        if self._making is not None and not self._making.done():
            self._making.cancel()
            await asyncio.wait({self._making})
        if self._late.mcp.is_bound:
            await self._late.mcp().aclose()


class ServerReminders:
    """Tells the model what servers offer: once, and again when that changes."""

    def __init__(self, inner: Reminders, late: LateParts) -> None:
        """`inner` returns all other reminders."""
        self._inner = inner
        self._late = late

    def first(self) -> Sequence[str]:
        """Return the reminders at the start of a conversation."""
        return self._inner.first()

    def before_prompt(self) -> Sequence[str]:
        """Return what changed since the last prompt."""
        news = self._late.mcp().news() if self._late.mcp.is_bound else None
        return [*self._inner.before_prompt(), *([note(news)] if news is not None else [])]


def _seconds(text: str | None, default_ms: int) -> float:
    return (int(text) if text is not None and text.isdigit() else default_ms) / 1000


if TYPE_CHECKING:

    def _check_protocol(reminders: ServerReminders) -> Reminders:
        return reminders
