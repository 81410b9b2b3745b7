"""Build the conversation from its parts, and the order in which they are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from agent.advisor.advisor_tool import AdvisorSwitch
from agent.advisor.consultation import DEFAULT_MAX_USES, AdvisorPorts, Consultation
from agent.assembly.agents.agents_setup import AgentParts
from agent.assembly.command_setup import CommandAssembly
from agent.assembly.hook_setup import HookParts, StartHooks
from agent.assembly.loop_setup import LoopParts
from agent.assembly.model_setup import ModelParts
from agent.assembly.permission_setup import PermissionParts
from agent.assembly.prompt_setup import PromptParts
from agent.assembly.recording import Recording
from agent.assembly.servers.mcp_setup import McpSetup
from agent.assembly.start_context import StartContext
from agent.assembly.tool_setup import ToolParts
from agent.assembly.wiring import LateParts, SharedState
from agent.commands.command_context import CommandContext, LedTeam
from agent.commands.service import CommandService
from agent.conversation.automatic_title import AutomaticTitle
from agent.conversation.conversation import Conversation
from agent.conversation.conversation_ports import ConversationParts
from agent.conversation.display_hooks import DisplayHooks
from agent.conversation.side_question import SideQuestion
from agent.events import Usage
from agent.messages import Message
from agent.model.endpoint import expand_alias
from agent.observe.observer import Observer
from agent.prompt.reminders import PromptReminders
from agent.teams.seat import LeaderSeat, TeamSeat

Close = Callable[[], Awaitable[None]]
AfterPrompt = Callable[[tuple[Message, ...]], None]


class AssembledParts(Struct, frozen=True, kw_only=True):
    """The parts of one conversation."""

    model: ModelParts
    recording: Recording
    hooks: HookParts
    permissions: PermissionParts
    prompt: PromptParts
    commands: CommandAssembly
    agents: AgentParts
    tools: ToolParts
    loop: LoopParts
    mcp: McpSetup


def build_conversation(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    parts: AssembledParts,
    on_close: Sequence[Close],
) -> Conversation:
    """Build the conversation, and start to ask the endpoint for the model's capabilities."""
    model, dispatch, tools, loop = parts.model, parts.hooks.dispatch, parts.tools, parts.loop
    resumed_conversation, services = start.resumed_conversation, parts.tools.services
    observer = start.observer(parts.recording.redactor)
    start_hooks = StartHooks(
        start=start,
        dispatch=dispatch,
        sources=loop.sources,
        model=model.name,
        background=state.background,
    )
    title = _title(start, parts)
    reminders = PromptReminders(
        parts.prompt.context,
        parts.prompt.sections,
        is_resumed=resumed_conversation is not None,
        last_mode=resumed_conversation.mode if resumed_conversation is not None else None,
        notes=lambda is_opening: model.model_in_use.advisor_notes(is_opening),
    )
    conversation = Conversation(
        ConversationParts(
            identity=start.identity(),
            gate=parts.permissions.gate,
            hooks=dispatch,
            ports=loop.ports,
            stream=state.stream,
            recorder=parts.recording.recorder,
            reminders=parts.mcp.reminders(
                parts.commands.reminders(reminders, parts.agents.catalog.news)
            ),
            totals=model.model_in_use.totals,
            model=model.name,
            effort=model.effort,
            switch=model.model_in_use,
            shells=state.shells,
            max_turns=start.max_turns(),
            previews=state.previews,
            todos=lambda: services.todos,
            cwd=late.cwd,
            move=services.move_to,
            tool_names=tuple(tool.name for tool in tools.registry.all()),
            queue=state.queue,
            commands=late.commands,
            on_close=(title.aclose, *_closers(start, late, state, parts, observer), *on_close),
            messages=loop.prefix.messages,
            is_resumed=resumed_conversation is not None,
            observe=observer.record,
            on_start=parts.mcp.before_start(start_hooks.run),
            display=DisplayHooks(dispatch, replaces=start.user.dialog is not None),
            checkpoints=tools.checkpoints,
            costs=model.costs.costs,
            titles=title,
            after_prompt=_combine(loop.extractor.after_prompt, title.after_prompt),
            token_budget=start.settings.values.tokenBudget,
            expander=parts.commands.expander,
            agents=parts.agents.supervisor,
            workflows=parts.agents.workflows,
            orchestration=parts.agents.orchestration,
            initial_prompt=parts.agents.lead.initial_prompt if parts.agents.lead else "",
        )
    )
    return late.conversation.bind(conversation)


def _title(start: StartContext, parts: AssembledParts) -> AutomaticTitle:
    """Build automatic titles, used if the user sees titles and there is a small model."""
    model, recorder = parts.model, parts.recording.recorder
    recorder.is_titled |= start.resumed_conversation is not None and bool(
        start.resumed_conversation.title
    )

    def is_wanted() -> bool:
        return start.user.reads_titles and not start.is_demo and model.has_small

    return AutomaticTitle(model.small, recorder, is_wanted)


def _combine(*receivers: AfterPrompt) -> AfterPrompt:
    def receive(messages: tuple[Message, ...]) -> None:
        for receiver in receivers:
            receiver(messages)

    return receive


def _check_lead(agent_home: Path, name: str) -> None:
    from agent.teams.team_file import check_lead  # imported only for teams

    check_lead(agent_home, name)


def build_command_service(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    parts: AssembledParts,
    conversation: Conversation,
) -> CommandService:
    """Build the service that the user's commands run with."""
    model, dispatch, prompt = parts.model, parts.hooks.dispatch, parts.prompt
    settings, commands = start.settings, parts.commands

    def on_directory(path: Path) -> None:
        parts.permissions.session_grants.add_directory(str(path))
        state.background.start(dispatch.directory_added(str(path), "slash_command"))
        if (live := late.servers_or_none()) is not None:
            state.background.start(live.servers.roots_changed())

    parts.permissions.gate.on_directory(on_directory)
    side_question = SideQuestion(
        model.client,
        parts.loop.request,
        lambda: conversation.view.messages,
        model.accounting.add_quietly,
    )
    advisor = _build_advisor(start, late, parts)
    context = CommandContext(
        session=conversation.view,
        status=conversation.status,
        costs=conversation.view.costs,
        context_breakdown=conversation.view.context_breakdown,
        changes=conversation.controls,
        registry=commands.registry,
        custom=commands.custom,
        settings=start.current_settings,
        gate=parts.permissions.gate,
        sandbox=start.sandbox,
        hooks=parts.hooks.runner,
        shells=state.shells,
        agents=parts.agents.supervisor,
        orchestration=parts.agents.orchestration,
        workflows=parts.agents.workflows,
        instructions=lambda: prompt.context().instructions,
        on_directory=on_directory,
        env=start.own_env,
        reading=start.reading,
        home=settings.home,
        agent_home=settings.agent_home,
        version=start.environment.version,
        endpoint=lambda: model.client.address(model.name()),
        list_models=model.client.list_models,
        servers=late.servers_or_none,
        servers_made=late.servers_made,
        reload_settings=parts.permissions.live.reload,
        team=partial(_led_team, late.seat()),
        may_lead=partial(_check_lead, settings.agent_home),
        ask_side_question=side_question.ask,
        advisor=advisor,
        follow_model=model.model_in_use.follow,
        model_problem=model.client.problem,
    )
    return late.commands.bind(
        CommandService(commands.registry, commands.custom, context, commands.files, commands.ready)
    )


def _led_team(seat: TeamSeat | None) -> LedTeam | None:
    return seat.leader if isinstance(seat, LeaderSeat) else None


def _build_advisor(start: StartContext, late: LateParts, parts: AssembledParts) -> AdvisorSwitch:
    """Build the advisor of the working model; `--advisor` overrides the setting."""
    accounting, tools = parts.model.accounting, parts.tools

    def account(usage: Usage, model: str) -> float | None:
        accounting.add_quietly(usage, model)
        price = accounting.costs.prices.price_of(model)
        return None if price is None else price.cost_usd(usage)

    ports = AdvisorPorts(
        parts.model.client,
        lambda: late.conversation().view.messages,
        lambda: parts.loop.prefix.system,
        account,
    )
    values = start.settings.values
    consultation = Consultation(ports, values.advisorMaxUses or DEFAULT_MAX_USES)
    model_in_use, client = parts.model.model_in_use, parts.model.client

    def is_served(advisor: str) -> bool:
        can = model_in_use.capabilities
        serves = can.advises or (client.endpoint.is_official and can.source == "table")
        return serves and client.is_main(model_in_use.model) and client.is_main(advisor)

    switch = AdvisorSwitch(consultation, tools.registry, is_served)
    model_in_use.advisor_tools, model_in_use.advisor_notes = switch.definitions, switch.notes
    chosen = start.options.advisor or values.advisorModel
    if chosen and chosen.lower() != "off":
        model = expand_alias(chosen)
        problem = parts.model.client.problem(model)
        if problem is not None:
            start.notes.append(f"No advisor: {problem}")
        else:
            switch.choose(model)
    return switch


def _closers(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    parts: AssembledParts,
    observer: Observer,
) -> tuple[Close, ...]:
    """Return what must be closed with the conversation, in this order."""
    learning = asyncio.ensure_future(parts.model.model_in_use.learn_capabilities())
    runner, wait_s = parts.hooks.runner, 5.0 if start.options.headless else 0.0
    seat = late.seat()
    is_shared = start.member is not None and start.member.client is not None
    return (
        *(() if seat is None else (seat.aclose,)),
        _closer_of_task(learning),
        parts.agents.workflows.aclose,
        parts.agents.supervisor.aclose,
        parts.loop.extractor.aclose,
        state.background.aclose,
        parts.commands.aclose,
        parts.mcp.aclose,
        parts.permissions.live.aclose,
        parts.permissions.contenders.aclose,
        parts.loop.sources.aclose,
        _closer_of_function(parts.tools.checkpoints.close),
        state.shells.kill_all,
        start.sandbox.aclose,
        lambda: runner.aclose(wait_s=wait_s),
        *(() if is_shared else (parts.model.client.aclose,)),
        lambda: asyncio.to_thread(observer.close),
        parts.model.costs.aclose,
    )


def _closer_of_task(task: asyncio.Future[None]) -> Close:
    """Return a closer that cancels a task and waits for its end."""

    async def run() -> None:
        task.cancel()
        await asyncio.wait({task})

    return run


def _closer_of_function(close: Callable[[], None]) -> Close:
    """Return a closer that calls a plain function."""

    async def run() -> None:
        close()

    return run
