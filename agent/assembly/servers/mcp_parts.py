"""Build the servers of a conversation; imported only if one is configured."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from agent.assembly.hook_setup import HookParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.servers.own_servers import own_servers
from agent.assembly.start_context import StartContext
from agent.assembly.tool_setup import ToolParts
from agent.assembly.wiring import LateParts
from agent.mcp.bridge.resource_tools import resource_tools
from agent.mcp.bridge.tool_bridge import ToolBridge
from agent.mcp.configuration.configured_servers import ServerSources
from agent.mcp.configuration.consent_store import ConsentStore, ProjectConsents
from agent.mcp.configuration.rule_digests import RuleDigests
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.configuration.tool_pins import ToolPins
from agent.mcp.live.agent_servers import AgentServers
from agent.mcp.live.caller_channel import CallerChannel
from agent.mcp.live.elicitation import Elicitations
from agent.mcp.live.live_servers import LiveServers
from agent.mcp.live.offered_tools import OfferedTools, share_of_window
from agent.mcp.live.rule_binding import RuleBinding
from agent.mcp.live.sampling import Sampling
from agent.mcp.live.tool_changes import ToolChangeGuard
from agent.mcp.live.user_port import McpUser
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_confinement import server_confinement
from agent.mcp.server_requests import McpPorts, SamplingAnswer, SamplingRequest
from agent.mcp.server_state import ServerView
from agent.permission_config.denied_tools import denied_tools
from agent.settings.schema import McpSection
from agent.subagents.agent_tools import may_have
from agent.teams.seat import LeaderSeat, WorkerSeat
from agent.tools.base import AnyTool

_LOG = logging.getLogger(__name__)


def live_servers(
    start: StartContext,
    late: LateParts,
    *,
    model: ModelParts,
    hooks: HookParts,
    tools: ToolParts,
) -> tuple[LiveServers, AgentServers]:
    """Return the servers of the conversation and of its agents; nothing is started yet."""
    environment = start.environment
    user = start.user.mcp() if start.user.mcp is not None else None
    changes = ToolChangeGuard(
        ToolPins(start.settings.agent_home), lambda: _mcp_section(start).toolChanges, start.warn
    )
    sampling = _AskedModel(start, late, model, user)
    ask = start.user.ask_server
    servers = McpServers(
        McpPorts(
            elicit=Elicitations(hooks.dispatch.firing.fire, user).answer,
            sample=sampling.answer,
            may_sample=sampling.may_ask,
            roots=lambda: _roots(late),
            log=lambda server, level, text: _LOG.debug("%s: %s: %s", server, level, text),
            withhold=changes.withhold,
            open_channel=None if ask is None else lambda server: CallerChannel(server.name, ask),
            confine=server_confinement(
                start.sandbox, lambda: late.gate().context.sandbox.runs_inside
            ),
        ),
        env=start.own_env,
        settings_env=environment.env,
        launch_dir=environment.launch_dir,
        agent_home=start.settings.agent_home,
        version=environment.version,
    )

    def room_tokens() -> int:
        percent = share_of_window(environment.env, _mcp_section(start).toolSearch)
        return model.model_in_use.capabilities.context_window * percent // 100

    seat = late.seat()
    # A leader only coordinates, and a worker has the tools of its subtask.
    for tool in resource_tools(servers) if seat is None else ():
        if tools.registry.get(tool.name) is None:
            tools.registry.register(replace(tool, should_defer=True, always_load=False))
    build = _builder(servers, start, late)

    def build_own(view: ServerView) -> Sequence[AnyTool]:
        tools = build(view)
        if start.lead is not None:
            tools = [tool for tool in tools if may_have(start.lead, tool.name)]
        if isinstance(seat, WorkerSeat):
            tools = [tool for tool in tools if seat.may_have(tool.name)]
        return tools

    live = LiveServers(
        servers,
        start.current_settings,
        ServerSources(
            env=environment.env,
            strict=start.options.strict_mcp_config,
            plugin_dirs=start.plugins_with_servers,
            of_lead=own_servers(start.lead) if start.lead is not None else (),
        ),
        tools=OfferedTools(
            seat.for_workers if isinstance(seat, LeaderSeat) else tools.registry,
            tools.deferred_tools,
            build_own,
            room_tokens,
            is_for_workers=isinstance(seat, LeaderSeat),
        ),
        changes=changes,
        rules=RuleBinding(
            RuleDigests(start.settings.agent_home), servers.views, late.gate, start.user.notify
        ),
        user=user,
        notify=start.user.notify,
    )
    return live, AgentServers(live, build)


class _AskedModel:
    """Answers sampling requests of servers, with the user's stored consents."""

    def __init__(
        self, start: StartContext, late: LateParts, model: ModelParts, user: McpUser | None
    ) -> None:
        self._start = start
        self._late = late
        self._user = user
        self._store = ConsentStore(start.settings.agent_home)
        name = model.model_in_use
        self._sampling = Sampling(
            model.small, lambda: name.model, user, self._consents, self._allow_always
        )

    def may_ask(self, definition: ServerDefinition) -> bool:
        has_consent = self._consents().sampling.get(definition.name) == definition.digest
        return has_consent or self._user is not None

    async def answer(self, request: SamplingRequest) -> SamplingAnswer | None:
        return await self._sampling.answer(request, self._definition(request.server))

    def _consents(self) -> ProjectConsents:
        return self._store.of(self._start.settings.project_root)

    def _definition(self, name: str) -> ServerDefinition | None:
        view = self._late.mcp().servers.view(name)
        return view.definition if view is not None else None

    async def _allow_always(self, name: str) -> None:
        definition = self._definition(name)
        if definition is not None:
            root = self._start.settings.project_root
            await asyncio.to_thread(self._store.allow_sampling, root, definition)


def _builder(
    servers: McpServers, start: StartContext, late: LateParts
) -> Callable[[ServerView], Sequence[AnyTool]]:
    """Return a function that builds the tools of a server, except those that a rule denies."""
    bridge = ToolBridge(servers, start.environment.env, start.warn)

    def build(view: ServerView) -> Sequence[AnyTool]:
        tools, problems = bridge.tools(view)
        for problem in problems:
            _LOG.warning("MCP server %s: %s", view.name, problem)
        denied_names = denied_tools(late.gate().context.rules, [tool.name for tool in tools])
        return [tool for tool in tools if tool.name not in denied_names]

    return build


def _mcp_section(start: StartContext) -> McpSection:
    return start.settings.values.mcp or McpSection()


def _roots(late: LateParts) -> tuple[Path, ...]:
    context = late.gate().context
    return (context.launch_dir, *context.additional_dirs)
