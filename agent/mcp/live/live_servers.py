"""The servers of a conversation, by its settings: starts them, asks about them, shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agent.conversation_facts import ServerSummary
from agent.errors import AgentError
from agent.mcp.configuration.configured_servers import (
    ConfiguredServer,
    ConfiguredServers,
    ServerSources,
    Standing,
    configured_servers,
    judged_servers,
)
from agent.mcp.configuration.consent_store import ConsentAnswer, ConsentStore
from agent.mcp.live.offered_tools import OfferedTools
from agent.mcp.live.resource_contents import content_blocks
from agent.mcp.live.rule_binding import RuleBinding
from agent.mcp.live.server_notes import ServerNotes
from agent.mcp.live.tool_changes import ToolChangeGuard
from agent.mcp.live.user_port import McpUser
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_state import ServerState, ServerView
from agent.mcp.server_text import call_for_text
from agent.mcp.tool_names import full_name
from agent.messages import Block
from agent.settings.load import Settings
from agent.settings.servers.mcp_file import McpServerText
from agent.tools.base import ToolError
from permissions.base.text.failure_text import error_reason

Notify = Callable[[str, str], None]
"""Shows a line to the user, with a level."""
_SHOWN_AS: Final[dict[Standing, ServerState]] = {"not_configured": ServerState.FAILED}
"""States to show for servers that may not start; all others are shown as disabled."""
ALWAYS_LOAD_WAIT_S: Final = 5.0


class ServerRequired(AgentError):
    """A run must not begin without this server; the text has the reason why it is missing."""


class LiveServers:
    """Follows the settings; asks the user about a project's servers."""

    def __init__(
        self,
        servers: McpServers,
        settings: Callable[[], Settings],
        sources: ServerSources,
        *,
        tools: OfferedTools,
        changes: ToolChangeGuard,
        rules: RuleBinding,
        user: McpUser | None,
        notify: Notify,
    ) -> None:
        """Read and start nothing before `begin`."""
        self.servers = servers
        self.tools = tools
        self.changes = changes
        self.rules = rules
        self.configuration = ConfiguredServers()
        self.agent_only_names: set[str] = set()
        """Names of servers whose tools are only offered to some agents."""
        self._settings = settings
        self._sources = sources
        self._user = user
        self._notify = notify
        self._notes = ServerNotes(self._own_views, tools, changes.withholds_instructions)
        self._one_at_a_time = asyncio.Lock()
        self._ask_task: asyncio.Task[None] | None = None
        self._open: set[str] = set()
        """Digests of servers that the user was already asked about in this process."""
        servers.on_change(self._follow_view)

    def _follow_view(self, view: ServerView) -> None:
        self.rules.check(view)
        if view.name not in self.agent_only_names:
            self.tools.follow(view)
            if view.state is ServerState.FAILED:
                more = "" if self._user is None else " /mcp shows more."
                reason = view.reason.rstrip(".")
                self._notify(f"MCP server {view.name} is not connected: {reason}.{more}", "warning")

    def _own_views(self) -> tuple[ServerView, ...]:
        return tuple(
            view for view in self.servers.views() if view.name not in self.agent_only_names
        )

    # -- start and settings ---------------------------------------------------------------------

    async def begin(self) -> None:
        """Start allowed servers in the background; ask about the rest one by one."""
        await self.follow_settings()
        for server in self.configuration.waiting if self._user is None else ():
            name, plugin = server.definition.name, server.definition.plugin
            owner = "the project" if plugin is None else "a plugin"
            text = f"MCP server {name} of {owner} is not started: it {server.reason}. "
            self._notify(f"{text}Approve it in agent-tui, or pass --trust.", "warning")

    async def follow_settings(self) -> None:
        """Read the current configuration; start, stop and show servers accordingly."""
        async with self._one_at_a_time:
            configuration = await asyncio.to_thread(
                configured_servers, self._settings(), self._sources
            )
            previous, self.configuration = self.configuration, configuration
            for warning in configuration.warnings:
                if warning not in previous.warnings:
                    self._notify(str(warning), "warning")
            for old in previous.servers:
                if configuration.get(old.definition.name) is None:
                    await self._forget(old.definition.name)
            for server in configuration.servers:
                await self._apply(previous.get(server.definition.name), server)
            for view in self.servers.views():
                # The rules may have been reloaded.
                self.rules.check(view)
        if self._user is not None and self._ask_task is None and self._unasked_servers():
            self._ask_task = asyncio.create_task(self._ask(self._user), name="MCP approvals")

    async def _apply(self, previous: ConfiguredServer | None, server: ConfiguredServer) -> None:
        definition = server.definition
        if previous is not None and _is_same_server(previous, server):
            return
        if server.standing == "may_start":
            await self.servers.replace(definition)
            return
        await self._forget(definition.name)
        state = _SHOWN_AS.get(server.standing, ServerState.DISABLED)
        self.servers.show(definition, state, server.reason)

    async def _forget(self, name: str) -> None:
        view = self.servers.view(name)
        await self.servers.remove(name)
        if view is not None:
            self.tools.forget(name)

    async def ready(self, *, timeout_s: float | None) -> None:
        """Wait for servers before the first prompt: at most `timeout_s` for all of them; if None,
        only for those whose tools are always loaded."""
        if timeout_s is not None:
            await self.servers.settle(timeout_s=timeout_s)
            return
        always = [one.name for one in self.configuration.startable if one.always_load]
        if always:
            await self.servers.settle(always, timeout_s=ALWAYS_LOAD_WAIT_S)

    def summary(self) -> ServerSummary:
        """Return the servers' states for a run without a screen.

        Raises:
            ServerRequired: a required server is not connected.
        """
        views = self.servers.views()
        for view in views:
            if view.definition.is_required and view.state is not ServerState.CONNECTED:
                raise ServerRequired(
                    f"The MCP server {view.name} is required and not connected: {view.reason}"
                )
        return ServerSummary(
            states=tuple((view.name, str(view.state)) for view in views),
            tools=tuple(name for view in views for name in self.tools.names(view.name)),
            errors=tuple(
                {"name": bad.name, "type": bad.mistake.kind, "message": str(bad.warning())}
                for bad in self.configuration.bad
            ),
        )

    def news(self) -> str | None:
        """Return the note about changes of the servers, before a prompt; None if there are none."""
        self.tools.begin()
        return self._notes.news()

    async def aclose(self) -> None:
        """Stop all servers."""
        if self._ask_task is not None:
            self._ask_task.cancel()
            await asyncio.wait({self._ask_task})
        await self.servers.aclose()

    # -- consent --------------------------------------------------------------------------------

    def _unasked_servers(self) -> list[ConfiguredServer]:
        return [
            one for one in self.configuration.waiting if one.definition.digest not in self._open
        ]

    async def _ask(self, user: McpUser) -> None:
        try:
            while servers := self._unasked_servers():
                answer = await user.approve_server(servers[0])
                if answer is None:
                    self._open.add(servers[0].definition.digest)
                else:
                    await self.answer(servers[0], is_approved=answer == "approved")
        finally:
            self._ask_task = None

    async def judge_servers(self, texts: Sequence[McpServerText]) -> tuple[ConfiguredServer, ...]:
        """Judge servers outside the settings, and ask the user about foreign ones."""

        def judge() -> tuple[ConfiguredServer, ...]:
            return judged_servers(texts, self._settings(), self._sources)

        servers = await asyncio.to_thread(judge)
        to_ask = [
            one
            for one in servers
            if one.standing == "needs_approval" and one.definition.digest not in self._open
        ]
        if self._user is None or not to_ask:
            return servers
        for server in to_ask:
            answer = await self._user.approve_server(server)
            self._open.add(server.definition.digest)
            if answer is not None:
                await self.answer(server, is_approved=answer == "approved")
        return await asyncio.to_thread(judge)

    async def answer(self, server: ConfiguredServer, *, is_approved: bool) -> None:
        """Store the user's answer about a project's server, effective at once."""
        root = self._settings().project_root
        answer: ConsentAnswer = "approved" if is_approved else "rejected"
        await self._change(lambda store: store.answer(root, server.definition, answer))
        self._open.add(server.definition.digest)

    # -- what the panel does ----------------------------------------------------------------------

    async def set_disabled(self, name: str, is_disabled: bool) -> None:
        """Turn a server off or on in this project."""
        root = self._settings().project_root
        await self._change(lambda store: store.set_disabled(root, name, is_disabled))

    async def accept_changes(self, name: str) -> None:
        """Accept the current tools of a server."""
        try:
            self.changes.accept(name)
        except OSError as error:
            self._notify(f"Not kept: {error.strerror}", "warning")
            return
        self.servers.list_again(name)

    async def reconnect(self, name: str) -> None:
        """Reload the settings and reconnect a server. Raises McpError."""
        await self.follow_settings()
        await self.servers.reconnect(name)

    async def _change(self, change: Callable[[ConsentStore], None]) -> None:
        store = ConsentStore(self._settings().agent_home)
        try:
            await asyncio.to_thread(change, store)
        except OSError as error:
            self._notify(
                f"Your answer cannot be saved, so it has no effect: {error_reason(error)}",
                "warning",
            )
        await self.follow_settings()

    async def read_mention(
        self, name: str, check: Callable[[str, str], None]
    ) -> Sequence[Block] | None:
        """Return the contents of a resource given as `server:uri`; None if there is no such server.

        Raises:
            ToolError: `check` raised it, or the server failed to return the resource.
        """
        for view in self.servers.views():
            uri = name.removeprefix(f"{view.name}:")
            if uri != name and uri and view.state is ServerState.CONNECTED:
                check(view.name, uri)
                try:
                    return content_blocks(await self.servers.read_resource(view.name, uri))
                except McpError as error:
                    raise ToolError(str(error)) from error
        return None

    def resource_names(self) -> tuple[str, ...]:
        """Return the resources of connected servers that can be mentioned, as `server:uri`."""
        return tuple(
            f"{view.name}:{one.uri}"
            for view in self.servers.views()
            if view.state is ServerState.CONNECTED
            for one in view.offer.resources
            if not one.is_template
        )

    async def proposals(self, command: str, words: Sequence[str], value: str) -> tuple[str, ...]:
        """Return a server's completions for an argument of its prompt; empty if there are none.

        Args:
            command: The prompt's full name, which is the command's name.
            words: The arguments before this one.
            value: The text typed so far.
        """
        for view in self.servers.views():
            for prompt in view.offer.prompts:
                names = [one.name for one in prompt.arguments]
                if full_name(prompt.server, prompt.name) != command or len(words) >= len(names):
                    continue
                others = dict(zip(names, words, strict=False))
                try:
                    return await self.servers.complete(prompt, names[len(words)], value, others)
                except McpError:
                    return ()
        return ()

    async def call_for_text(self, server: str, tool: str, tool_input: Mapping[str, object]) -> str:
        """Return the text of a tool's result, for hooks. Raises McpError."""
        return await call_for_text(lambda: self.servers)(server, tool, tool_input)

    def views(self) -> tuple[ServerView, ...]:
        """Return the current views of all servers."""
        return self.servers.views()


def _is_same_server(one: ConfiguredServer, other: ConfiguredServer) -> bool:
    # The digest does not cover values of environment variables, which may have changed.
    definitions = [replace(each.definition, line=None) for each in (one, other)]
    return definitions[0] == definitions[1] and one.standing == other.standing
