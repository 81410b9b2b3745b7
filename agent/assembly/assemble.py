"""The composition root: wires settings, permissions, hooks, model, tools and session into one
conversation.

Nothing else knows all the parts; each part is built in its `*_setup` module.
Order matters for safety: settings as data, trust, then everything that may start a program.
Next: `agent.conversation.conversation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.assembly.agents.agents_setup import AgentKinds, agent_kinds, build_agents
from agent.assembly.command_setup import build_commands
from agent.assembly.context_setup import build_managers
from agent.assembly.conversation_setup import (
    AssembledParts,
    build_command_service,
    build_conversation,
)
from agent.assembly.environment import Environment, environment_from, settings_for
from agent.assembly.hook_setup import HookParts, build_hooks
from agent.assembly.loop_setup import build_loop
from agent.assembly.memory_setup import fact_store
from agent.assembly.model_setup import ModelParts, build_model, model_client
from agent.assembly.permission_setup import PermissionParts, build_permissions
from agent.assembly.prompt_setup import build_prompt
from agent.assembly.recording import Recording, build_recording
from agent.assembly.sandbox_setup import build_sandbox, probe_sandbox, sandbox_notes
from agent.assembly.servers.mcp_setup import McpSetup, has_servers
from agent.assembly.session_opening import open_session
from agent.assembly.start_context import (
    CurrentSettings,
    StartContext,
    UserPorts,
    scratch_directory,
)
from agent.assembly.tool_setup import build_tools
from agent.assembly.wiring import LateParts, SharedState
from agent.commands.service import CommandService
from agent.conversation.conversation import Conversation
from agent.loop.loop_ports import LoopPorts
from agent.memory.extractor import FactExtractor
from agent.model.endpoint import ModelSetup, expand_alias
from agent.model.providers.router import ModelRouter
from agent.options import RunOptions
from agent.permission_config.permission_context import Grants
from agent.permission_config.rule_changes import RuleChanges
from agent.session.checkpoints.checkpoint import Checkpoints
from agent.session.resume import ResumedConversation
from agent.settings.load import Settings
from agent.settings.start_notices import start_notices
from agent.teams.seat import LeaderSeat, MemberStart, TeamSeat
from hooks.runner import HookRunner
from permissions.base.process.child_environment import child_environment
from permissions.confinement import SandboxLevel

__all__ = [
    "Assembled",
    "Environment",
    "UserPorts",
    "assemble",
    "environment_from",
    "open_session",
    "settings_for",
]


class Assembled(Struct, frozen=True, kw_only=True):
    """A conversation with its parts, and notices for the entry point to show."""

    conversation: Conversation
    settings: Settings
    notices: tuple[str, ...] = ()
    resumed_conversation: ResumedConversation | None = None
    temporary_home: Path | None = None
    """Where the session is stored if the agent's own home is not writable."""
    hook_runner: HookRunner
    grants: Grants
    checkpoints: Checkpoints
    commands: CommandService
    ports: LoopPorts
    """The ports of the conversation's loop."""
    facts: FactExtractor
    seat: TeamSeat | None
    """The conversation's place in a team."""
    servers: McpSetup


async def assemble(
    options: RunOptions,
    environment: Environment,
    settings: Settings,
    setup: ModelSetup,
    user: UserPorts,
    *,
    is_demo: bool = False,
    on_close: Sequence[Callable[[], Awaitable[None]]] = (),
    member: MemberStart | None = None,
) -> Assembled:
    """Build a conversation. Trust was decided before: `settings` contains only what may apply.

    With `member` it becomes the conversation of a worker in a team.

    Raises:
        SessionError: the session cannot be opened.
        ConfigError: no model can be chosen.
    """
    probing = asyncio.create_task(asyncio.to_thread(probe_sandbox, options, environment, settings))
    session, resumed_conversation, session_notes = await asyncio.to_thread(
        open_session, options, environment, settings
    )
    late = LateParts()
    async with AsyncExitStack() as on_failure:
        on_failure.callback(session.finish)
        current_settings = CurrentSettings(settings)
        start = StartContext(
            options=options,
            environment=environment,
            current_settings=current_settings,
            setup=setup,
            user=user,
            session=session,
            resumed_conversation=resumed_conversation,
            is_demo=is_demo,
            member=member,
            env=child_environment(environment.env, settings.env),
            sandbox=build_sandbox(
                await probing, late.gate, current_settings, environment, scratch_directory(session)
            ),
        )
        start.notes.extend(sandbox_notes(settings))
        if user.dialog is not None and start.sandbox.level is not SandboxLevel.FULL:
            start.notes.append(start.sandbox.available.note())
        client = member.client if member is not None else None
        if client is None:
            client = model_client(setup, settings)
            on_failure.push_async_callback(client.aclose)
        result = await _build(start, late, client, session_notes, on_close)
        on_failure.pop_all()
        return result


async def _build(
    start: StartContext,
    late: LateParts,
    client: ModelRouter,
    session_notes: Sequence[str],
    on_close: Sequence[Callable[[], Awaitable[None]]],
) -> Assembled:
    """Build the parts in the order of their dependencies."""
    start.make_directories()
    kinds = agent_kinds(start, late)
    start = kinds.applied_to(start)
    state = SharedState()
    rules = RuleChanges(late.gate, start.user.notify)
    setup = start.permissions()
    hook_session = start.hook_session(setup)
    model = await build_model(start, client, hook_session, rules)
    recording = build_recording(start, model)
    hooks = build_hooks(start, late, state, hook_session, model=model, recording=recording)
    seat = _seat(start, late, state, model, recording, hooks, kinds)
    permissions = build_permissions(
        start, late, state, setup, rules, model=model, hooks=hooks, recording=recording
    )
    gate = permissions.gate
    prompt = await build_prompt(
        start, late, model=model, facts=fact_store(start, recording.redactor)
    )
    commands = build_commands(start, late, state, model=model, gate=gate, hooks=hooks.dispatch)
    managers = build_managers(start, state, model)
    agents = build_agents(
        start, late, state, prompt, managers, recording, model=model, kinds=kinds, hooks=hooks
    )
    with_servers = await has_servers(start)
    tools = build_tools(
        start,
        late,
        state,
        model=model,
        gate=gate,
        skills=commands.skills,
        agents=agents,
        with_search=with_servers and start.member is None,
    )
    mcp = McpSetup(
        start, late, state, model=model, hooks=hooks, tools=tools, is_wanted=with_servers
    )
    loop = await build_loop(
        start,
        late,
        state,
        model=model,
        recording=recording,
        hooks=hooks,
        gate=gate,
        prompt=prompt,
        commands=commands,
        tools=tools,
        managers=managers,
        agents=agents,
    )
    parts = AssembledParts(
        model=model,
        recording=recording,
        hooks=hooks,
        permissions=permissions,
        prompt=prompt,
        commands=commands,
        agents=agents,
        tools=tools,
        loop=loop,
        mcp=mcp,
    )
    conversation = build_conversation(start, late, state, parts, on_close)
    service = build_command_service(start, late, state, parts, conversation)
    await _begin(start, permissions, conversation, seat)
    mcp.begin(permissions.grants)
    return _build_conversation(
        start, parts, (setup.notes, session_notes), conversation, service, seat
    )


def _build_conversation(
    start: StartContext,
    parts: AssembledParts,
    notes: tuple[Sequence[str], Sequence[str]],
    conversation: Conversation,
    service: CommandService,
    seat: TeamSeat | None,
) -> Assembled:
    """Return the conversation; `notes` are those of the rules and of the session."""
    return Assembled(
        conversation=conversation,
        settings=start.settings,
        notices=_notices(start, parts, *notes),
        resumed_conversation=parts.loop.prefix.resumed_conversation,
        temporary_home=start.session.temporary_home,
        hook_runner=parts.hooks.runner,
        grants=parts.permissions.grants,
        checkpoints=parts.tools.checkpoints,
        commands=service,
        ports=parts.loop.ports,
        facts=parts.loop.extractor,
        seat=seat,
        servers=parts.mcp,
    )


def _notices(
    start: StartContext,
    parts: AssembledParts,
    setup_notes: Sequence[str],
    session_notes: Sequence[str],
) -> tuple[str, ...]:
    """Return what users should know about the start."""
    resumed_conversation = start.resumed_conversation
    return start_notices(
        start.settings,
        setup_notes,
        parts.hooks.runner.config.warnings,
        start.setup.warnings,
        parts.model.costs.warnings,
        start.notes,
        parts.prompt.instructions.warnings,
        session_notes,
        resumed_conversation.notes if resumed_conversation is not None else (),
    )


def _seat(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    model: ModelParts,
    recording: Recording,
    hooks: HookParts,
    kinds: AgentKinds,
) -> TeamSeat | None:
    """Return the conversation's place in a team; None without a team. Raises TeamError."""
    if start.member is None and start.options.team is None:
        return late.seat.bind(None)
    from agent.assembly.team.team_setup import build_seat  # imported only for teams

    return build_seat(start, late, state, model, recording, hooks, kinds, _run_in_process)


async def _run_in_process(member: MemberStart, leader: StartContext) -> None:
    from agent.assembly.team.team_member import run_member  # imported with the first member

    setup, model = leader.setup, member.config.options.model
    if model is not None:
        setup = replace(setup, model=expand_alias(model))
    await run_member(member, assemble, leader.environment, leader.settings, setup)


async def _begin(
    start: StartContext,
    permissions: PermissionParts,
    conversation: Conversation,
    seat: TeamSeat | None,
) -> None:
    """Start the contenders, follow the settings, name the session, and lead the team."""
    if isinstance(seat, LeaderSeat):
        await seat.leader.begin()
    if start.user.dialog is not None:
        note = await permissions.contenders.start()
        if note is not None:
            start.notes.append(note)
        permissions.live.start()
    if start.options.name is not None:
        await conversation.controls.rename(start.options.name)
