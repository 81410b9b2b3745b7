"""Build the tools, and the services and the permission gate that they use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.assembly.agents.agents_setup import AgentParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.sandbox_setup import refusal_offers
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts, SharedState
from agent.loop.loop_ports import BackgroundReport
from agent.model.served.endpoint_tools import OURS, has_served, served_tools
from agent.permission_config.denied_tools import denied_tools
from agent.permission_config.tool_scope import WorkingDirectories
from agent.session.checkpoints.checkpoint import Checkpoints
from agent.subagents.lead import gate_of_lead, tools_of_lead
from agent.tools.builtin.agent import agent_tool
from agent.tools.builtin.bash import bash_tool
from agent.tools.builtin.tool_search import tool_search_tool
from agent.tools.deferred_tools import DeferredTools
from agent.tools.file_state import FileState
from agent.tools.registry import ToolRegistry
from agent.tools.search_port import SearchPort
from agent.tools.services import SkillPort, ToolServices
from agent.tools.shell.shells import ShellRegistry, end_line
from agent.tools.web.search_providers import SearchService, search_service
from agent.tools.web.server_search import ServerSearch
from permissions.decision import Reason
from permissions.gate import PermissionGate
from permissions.matching.match_domain import named_hosts
from permissions.mode import Mode, parse_mode
from permissions.request import PermissionRequest

SMALL_WINDOW: Final = 16_000
"""In a smaller window, the definitions of all tools would leave too little room."""
SMALL_TOOLS: Final = ("Read", "Edit", "Bash", "Grep")


class ToolParts(Struct, frozen=True):
    """The tools of the main agent, and the services that they use."""

    registry: ToolRegistry
    deferred_tools: DeferredTools
    checkpoints: Checkpoints
    services: ToolServices
    gate: PermissionGate
    """Decides the calls of the main agent."""


def build_tools(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    *,
    model: ModelParts,
    gate: PermissionGate,
    skills: SkillPort,
    agents: AgentParts,
    with_search: bool,
) -> ToolParts:
    """Build the tools and their services for the start of a conversation.

    With `with_search`, tools of servers follow, most of which the model must search for.
    """
    environment, resumed_conversation = start.environment, start.resumed_conversation
    scope = WorkingDirectories(lambda: gate.context)
    checkpoints = start.checkpoints(late.turn_id, scope)
    search = web_search(start, model)
    registry = start.registry(without=() if search is not None else ("WebSearch",))
    window = model.model_in_use.capabilities.context_window
    if start.options.tools is None and window < SMALL_WINDOW:
        registry = registry.without({t.name for t in registry.all()} - set(SMALL_TOOLS))
        start.notes.append(
            f"The model's window is {window:,} tokens, so it has only the tools "
            f"{', '.join(SMALL_TOOLS)}; --tools chooses others."
        )
    if with_search and registry.get("ToolSearch") is None:
        registry.register(tool_search_tool())
    names = [tool.name for tool in registry.all()]
    registry = registry.without(denied_tools(gate.context.rules, names))
    only: tuple[str, ...] = ()
    if agents.lead is not None:
        lead_tools = tools_of_lead(agents.lead, registry)
        registry, only = lead_tools.registry, lead_tools.only
    if (seat := late.seat()) is not None:
        registry = seat.registry(registry)
    # The tools of a conversation do not change after its start.
    may_leave = gate.context.sandbox.may_leave
    registry.replace(bash_tool(may_leave=may_leave, places=late.places))
    registry.replace(agent_tool(agents.catalog.listing()))
    deferred_tools = DeferredTools(registry)
    services = late.services.bind(
        ToolServices(
            launch_dir=environment.launch_dir,
            cwd=environment.launch_dir,
            home=environment.home,
            scratch_dir=start.scratch,
            results_dir=start.results,
            env=start.env,
            reading=start.reading,
            sandbox=start.sandbox,
            may_leave_sandbox=may_leave,
            files=FileState(),
            shells=state.shells,
            scope=scope,
            mode=_Modes(gate),
            session_id=start.session.id,
            is_trusted=lambda: gate.context.is_trusted,
            user=start.user.ask,
            plans=start.user.plans,
            refusals=refusal_offers(start.sandbox, start.user.ask, gate),
            subagents=agents.branch if start.member is None else None,  # the leader has the limits
            small_model=model.small,
            search=search,
            checkpoints=checkpoints,
            skills=skills,
            deferred_tools=deferred_tools,
            todos=resumed_conversation.todos if resumed_conversation is not None else (),
            blocked_hosts=tuple(sorted(gate.context.blocked_hosts)),
            workflows=agents.workflows,
            named_hosts=lambda: named_hosts(gate.context.rules),
            may_search=lambda path: _may_search(gate, path, late.cwd()),
            env_files=state.env_files,
            background_on_timeout=start.settings.values.backgroundOnTimeout is True,
        )
    )
    roots = start.settings.project_root, start.settings.agent_home
    lead_gate = gate_of_lead(agents.lead, only, gate, roots)
    return ToolParts(registry, deferred_tools, checkpoints, services, lead_gate)


def web_search(start: StartContext, model: ModelParts) -> SearchPort | None:
    """Return the configured search service, else the endpoint's own search, else None."""
    section = start.settings.values.webSearch
    if section is not None:
        service = search_service(section.provider, section.url, start.environment.env)
        if isinstance(service, SearchService):
            return service
        start.notes.append(service)
    capabilities = model.model_in_use.capabilities
    is_known = start.setup.endpoint.is_official and capabilities.source != "guess"
    if not (is_known or "web_search" in capabilities.served_tools):
        return None
    account = model.accounting.add_quietly
    return ServerSearch(model.client, lambda: model.model_in_use.model, account=account)


def serve_tools(start: StartContext, model: ModelParts, gate: PermissionGate) -> None:
    """Offer the endpoint's own tools that the settings choose, while the model in use has them;
    add a note about those that it lacks at the start."""
    model_in_use, client, rules = model.model_in_use, model.client, gate.context.rules
    denied_names = denied_tools(rules, OURS.values())
    names_to_serve = [
        name
        for name in start.settings.values.serverTools or ()
        if OURS.get(name, "") not in denied_names
    ]
    hosts = sorted(gate.context.blocked_hosts)

    def names() -> list[str]:
        is_official = client.endpoint.is_official and client.is_main(model_in_use.model)
        can = model_in_use.capabilities
        return [name for name in names_to_serve if has_served(can, name, is_official=is_official)]

    model_in_use.served_tools = lambda: served_tools(names(), hosts)
    missing = [name for name in names_to_serve if name not in names()]
    if missing and model_in_use.capabilities.source != "table":
        start.notes.append(
            f"The server of {model_in_use.model} has no {', '.join(missing)} of its own: "
            "serverTools has no effect there."
        )


def ended_shells(shells: ShellRegistry) -> Callable[[], list[BackgroundReport]]:
    """Return a function that reports background commands that ended since its last call to the
    model."""

    def reports() -> list[BackgroundReport]:
        return [
            BackgroundReport(
                "" if shells.on_end is not None else end_line(shell),
                f"The background command {shell.id} (`{shell.command[:200]}`) ended with exit code "
                f"{shell.exit_code}. Use BashOutput to read its output.",
            )
            for shell in shells.take_finished()
        ]

    return reports


def _may_search(gate: PermissionGate, path: Path, cwd: Path) -> bool:
    """Whether rules allow the contents of a file to appear in search results."""
    request = PermissionRequest("Grep", {"path": str(path)})
    return gate.evaluate(request, cwd=cwd).reason not in {Reason.DENY_RULE, Reason.ASK_RULE}


class _Modes:
    """The permission mode as tools see it."""

    def __init__(self, gate: PermissionGate) -> None:
        self._gate = gate

    @property
    def mode(self) -> str:
        return str(self._gate.mode)

    def enter_plan_mode(self) -> None:
        self._gate.enter_plan_mode()

    def leave_plan_mode(self, mode: str) -> None:
        self._gate.leave_plan_mode(parse_mode(mode) or Mode.DEFAULT)
