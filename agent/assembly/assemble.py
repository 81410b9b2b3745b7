"""The composition root: wires settings, permissions, hooks, model, tools and session into one
conversation.

Nothing else knows all the parts; what belongs to one of them alone is in its `*_setup` module.
Order matters for safety: settings as data, trust, then everything that may start a program.
Next: `agent.conversation.conversation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct

from agent.assembly.command_setup import CommandParts, CommandPorts
from agent.assembly.cost_setup import CostParts
from agent.assembly.environment import Environment, environment_from, settings_for
from agent.assembly.gate_setup import GateParts, GatePorts
from agent.assembly.loop_setup import KeeperSetup, queue_taker, request_builder
from agent.assembly.memory_setup import fact_extractor, fact_store
from agent.assembly.prompt_setup import prompt_parts
from agent.assembly.retry_setup import key_refresh, retry_policies
from agent.assembly.session_opening import open_session
from agent.assembly.session_start_hooks import StartHooks, listen
from agent.assembly.start_context import StartContext, UserPorts
from agent.assembly.subagent_setup import SubagentSetup
from agent.assembly.tool_setup import ended_shells, tool_services
from agent.commands.service import CommandService
from agent.conversation.conversation import Conversation
from agent.conversation.conversation_ports import (
    ConversationParts,
)
from agent.conversation.display_hooks import MessageDisplay
from agent.conversation.settings_reload import LiveSettings
from agent.conversation.side_question import Aside
from agent.display import Display
from agent.hook_events.config import hook_config, plugin_hooks
from agent.hook_events.dispatch import HookDispatch
from agent.hook_events.file_events import HookSources
from agent.loop.loop_ports import LoopPorts
from agent.loop.model_turn import Recovery
from agent.memory.extractor import FactExtractor
from agent.model.anthropic import AnthropicClient
from agent.model.endpoint import ModelSetup
from agent.model.small_model import SmallModel
from agent.options import RunOptions
from agent.permission_config.contenders import PermissionContenders
from agent.permission_config.context import Grants
from agent.prompt.reminders import PromptReminders
from agent.prompt.sections import builtin_registry
from agent.prompt.system import PromptConfig, build_system
from agent.recovery.retry import RequestSource
from agent.session.checkpoints.checkpoint import Checkpoints
from agent.session.recorder import SessionRecorder
from agent.session.resume import ResumedConversation
from agent.settings.load import Settings
from agent.settings.start_notices import start_notices
from agent.subagents.hook_agent import HookAgent
from agent.subagents.subagent import SubagentRunner
from agent.tools.call import CallPorts
from agent.tools.deferred import DeferredTools
from agent.tools.event_queue import SideEvents
from agent.user_prompt import Prompt
from hooks.ports import HookPorts
from hooks.runner import HookRunner
from permissions.base.process.background_tasks import BackgroundTasks
from permissions.base.process.child_environment import child_environment
from permissions.base.text.redactor import Redactor, secrets_of
from permissions.mode import Mode

__all__ = [
    "Assembled",
    "Environment",
    "UserPorts",
    "assemble",
    "environment_from",
    "open_session",
    "settings_for",
]


class Assembled(Struct, kw_only=True):
    """A conversation, and what the entry point shows about how it came to be."""

    conversation: Conversation
    settings: Settings
    notices: tuple[str, ...] = ()
    resumed: ResumedConversation | None = None
    temporary_home: Path | None = None
    """Where the session is, if the agent's own home takes no files."""
    hook_runner: HookRunner
    grants: Grants
    checkpoints: Checkpoints
    commands: CommandService
    ports: LoopPorts
    """What the conversation's agent works with."""
    facts: FactExtractor


async def assemble(
    options: RunOptions,
    environment: Environment,
    settings: Settings,
    setup: ModelSetup,
    user: UserPorts,
    *,
    is_demo: bool = False,
    on_close: Sequence[Callable[[], Awaitable[None]]] = (),
) -> Assembled:
    """Build a conversation. Trust was settled before: `settings` holds only what may count.

    Raises:
        SessionError: the session cannot be opened.
        ConfigError: no model can be chosen.
    """
    session, resumed, session_notes = await asyncio.to_thread(
        open_session, options, environment, settings
    )
    try:
        start = StartContext(
            options=options,
            environment=environment,
            settings=settings,
            setup=setup,
            user=user,
            session=session,
            resumed=resumed,
            is_demo=is_demo,
            env=child_environment(environment.env, settings.env),
        )
        return await _build(start, session_notes, on_close)
    except BaseException:
        session.close()
        raise


async def _build(
    start: StartContext,
    session_notes: Sequence[str],
    on_close: Sequence[Callable[[], Awaitable[None]]],
) -> Assembled:
    """Wire one start. What parts only reach later (gate, conversation) they get as callables."""
    environment, resumed = start.environment, start.resumed
    start.make_folders()
    options = start.options
    client = AnthropicClient(start.setup.endpoint)
    try:
        used = await start.model_in_use(client)
    except BaseException:
        await client.aclose()
        raise
    queue: list[Prompt] = []
    side = SideEvents()
    background = BackgroundTasks()
    env_files: list[Path] = []
    previews: dict[str, Display | None] = {}

    permissions = start.permissions()
    redactor = Redactor(secrets_of({**environment.env, **start.settings.env}))
    recorder = SessionRecorder(start.session, redact=redactor.json)
    recorder.seed(resumed.states if resumed is not None else ())
    hook_session = start.hook_session(permissions, used)
    small = SmallModel(
        client,
        lambda: start.setup.small_model or used.model,
        account=lambda usage, model: accounting.add_quietly(usage, model),
    )
    runner = HookRunner(
        hook_config(start.settings),
        session=hook_session,
        ports=HookPorts(
            env=start.env,
            ask_small_model=small.for_hooks,
            run_hook_agent=HookAgent(lambda: ports, side.emit),
        ),
    )
    plugged, plugin_warnings = plugin_hooks(
        options.plugin_dirs,
        launch_dir=environment.launch_dir,
        data_home=environment.agent_home / "plugins" / "data",
    )
    runner.register(plugged)
    start.notes.extend(plugin_warnings)
    dispatch = HookDispatch(runner, hook_session, env_files=env_files)
    grants = Grants(
        lambda: start.settings,
        lambda rules: gates.add_rules(rules),
        session=list(resumed.grants) if resumed is not None else [],
    )
    grants.on_session_change = lambda rules: background.start(recorder.grants(rules))
    ways = PermissionContenders(
        lambda: start.settings,
        folder=start.folder,
        env=start.env,
        tell=lambda text: start.user.tell(text, "warning"),
    )
    gates = GateParts(
        start,
        GatePorts(
            permissions=permissions,
            runner=runner,
            dispatch=dispatch,
            grants=grants,
            classifiers=[
                ways.classifier(
                    small,
                    said=lambda: [message.text for message in conversation.prompts],
                    is_on=lambda: gate.mode is Mode.AUTO,
                )
            ],
            remote=ways.remote(),
            redactor=redactor,
            cwd=lambda: services.cwd,
        ),
    )
    gate = gates.gate
    live = LiveSettings(
        start.settings,
        load=lambda: settings_for(options, environment),
        gate=gate,
        runner=runner,
        in_force=start.use_settings,
        tell=start.user.tell,
        approve=dispatch.may_change_settings,
    )
    gate.before_yes(live.catch_up)
    services = tool_services(start, gate, small=small, env_files=env_files)
    checkpoints = services.checkpoints = start.checkpoints(lambda: conversation.turn_id, services)
    registry = start.registry()
    costs = CostParts(start, used, on_exceeded=gates.budget_exceeded)
    accounting = costs.accounting
    recorder.cost_by_model = lambda: accounting.costs.state.as_json()
    observer = start.observer(redactor)
    facts = fact_store(start, redactor)
    prompt = await prompt_parts(
        start,
        cwd=lambda: services.cwd,
        model=lambda: used.model,
        mode=lambda: str(gate.mode),
        facts=facts,
    )
    sources = HookSources(
        dispatch, prompt.instructions, prompt.context().instructions, lambda: services.cwd
    )
    sections = builtin_registry()
    commands = CommandParts(
        CommandPorts(
            settings=lambda: start.settings,
            services=services,
            gate=gate,
            calls=lambda: ports.calls,
            hooks=dispatch,
            side=side,
            choice=used,
            model=lambda: used.model,
            effort=lambda: used.effort,
            is_headless=options.headless,
        )
    )
    services.skills = commands.skills
    listen(
        dispatch,
        start,
        recorder=recorder,
        custom=commands.custom,
        services=services,
        background=background,
    )
    starting = StartHooks(
        start=start,
        dispatch=dispatch,
        sources=sources,
        model=lambda: used.model,
        background=background,
    )
    built = build_system(
        prompt.context(),
        sections,
        PromptConfig(custom=options.system_prompt, append_tail=options.append_system_prompt),
    )
    system, messages = await start.prefix(built, registry, recorder)
    await recorder.mode(str(permissions.context.mode))
    policy = retry_policies(lambda: start.settings, environment.env)
    recovery = Recovery(
        policy(RequestSource.MAIN),
        start.setup.endpoint.base_url,
        fallback_models=start.setup.fallback_models,
        refresh=key_refresh(client, start.setup, start.settings, environment.env),
    )
    keepers = KeeperSetup(
        client=client,
        used=used,
        policy=policy,
        accounting=accounting,
        side=side,
        is_automatic=lambda: start.settings.values.autoCompactEnabled is not False,
        window=lambda: start.settings.values.autoCompactWindow,
    )
    tools = registry.to_wire()
    deferred = services.deferred = DeferredTools(registry)
    request = request_builder(used, system, tools, loaded=deferred.definitions)
    extractor = fact_extractor(start, facts, client, request, recovery, policy, accounting)
    ports = LoopPorts(
        client=client,
        recovery=recovery,
        calls=CallPorts(
            registry=registry,
            gate=gate,
            hooks=dispatch,
            services=services,
            recorder=recorder,
            side=side,
            previews=previews,
        ),
        hooks=dispatch,
        request=request,
        account=accounting.account,
        spent=accounting.spent,
        queued=queue_taker(queue, commands.expander),
        reports=ended_shells(services.shells),
        after_calls=sources.after_calls,
        context=keepers.keeper(
            request, recovery, dispatch, system, tools, notes_on=extractor.notes_on
        ),
    )
    subagents = SubagentSetup(
        parent=ports,
        dispatch=dispatch,
        used=used,
        policy=policy,
        context=prompt.context,
        instructions=prompt.instructions,
        keepers=keepers,
    )
    services.subagents = SubagentRunner(subagents.build, side)
    gate.on_mode_change(lambda mode: setattr(hook_session, "permission_mode", str(mode)))
    gate.on_mode_change(gates.tell_stripped)
    used.on_effort = lambda effort: setattr(hook_session, "effort", effort)
    learning = asyncio.ensure_future(used.learn_capabilities())
    conversation = Conversation(
        ConversationParts(
            identity=start.identity(),
            gate=gate,
            hooks=dispatch,
            ports=ports,
            recorder=recorder,
            reminders=commands.reminders(
                PromptReminders(
                    prompt.context,
                    sections,
                    is_resumed=resumed is not None,
                    told_mode=resumed.mode if resumed is not None else None,
                )
            ),
            totals=used.totals,
            model=lambda: used.model,
            effort=lambda: used.effort,
            switch=used,
            shells=services.shells,
            max_turns=start.max_turns(),
            previews=previews,
            todos=lambda: services.todos,
            cwd=lambda: services.cwd,
            move=services.move_to,
            tool_names=tuple(tool.name for tool in registry.all()),
            queue=queue,
            on_close=(
                _cancelling(learning),
                extractor.aclose,
                background.aclose,
                commands.aclose,
                live.aclose,
                ways.aclose,
                sources.aclose,
                _closing(checkpoints.close),
                services.shells.kill_all,
                lambda: runner.aclose(wait_s=5.0 if options.headless else 0.0),
                client.aclose,
                lambda: asyncio.to_thread(observer.close),
                costs.aclose,
                *on_close,
            ),
            messages=messages,
            is_resumed=resumed is not None,
            observe=observer.record,
            on_start=starting.run,
            display=MessageDisplay(dispatch, replaces=start.user.dialog is not None),
            checkpoints=checkpoints,
            costs=costs.costs,
            after_prompt=extractor.after_prompt,
            token_budget=start.settings.values.tokenBudget,
            expander=commands.expander,
        )
    )
    if start.user.dialog is not None:
        opened = await ways.start()
        if opened is not None:
            start.notes.append(opened)
        live.start()
    conversation.commands = commands.center(
        conversation,
        instructions=lambda: prompt.context().instructions,
        on_directory=lambda path: background.start(
            dispatch.directory_added(str(path), "slash_command")
        ),
        env=start.env,
        version=environment.version,
        endpoint=start.setup.endpoint.base_url,
        list_models=client.list_models,
        reload_settings=live.reload,
        ask_aside=Aside(client, request, lambda: conversation.messages, accounting.add_quietly).ask,
    )
    if options.name is not None:
        await conversation.rename(options.name)
    return Assembled(
        conversation=conversation,
        settings=start.settings,
        notices=start_notices(
            start.settings,
            permissions.notes,
            runner.config.warnings,
            start.setup.warnings,
            costs.warnings,
            start.notes,
            prompt.instructions.warnings,
            session_notes,
            resumed.notes if resumed is not None else (),
        ),
        resumed=start.resumed,
        temporary_home=start.session.temporary_home,
        hook_runner=runner,
        grants=grants,
        checkpoints=checkpoints,
        commands=conversation.commands,
        ports=ports,
        facts=extractor,
    )


def _cancelling(task: asyncio.Future[None]) -> Callable[[], Awaitable[None]]:
    """Return what cancels a task and awaits its end."""

    async def run() -> None:
        task.cancel()
        await asyncio.wait({task})

    return run


def _closing(close: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    """Return what calls a plain function."""

    async def run() -> None:
        close()

    return run
