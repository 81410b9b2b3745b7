"""Build what fires hooks: the runner, the dispatch and the listeners that carry out requests of
hooks. Fire the hooks of a start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agent.assembly.model_setup import ModelParts
from agent.assembly.recording import Recording
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts, SharedState
from agent.errors import AgentError
from agent.hook_events.config import hook_config, plugin_hooks
from agent.hook_events.file_events import HookSources
from agent.hook_events.fire import HookFiring, HookListeners
from agent.hook_events.hook_dispatch import HookDispatch
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.subagents.agent_hooks import hooks_of_lead
from agent.subagents.hook_agent import HookAgent
from agent.tools.shell.shells import ShellRegistry
from hooks.config.spec import OF_OTHERS, CommandHandler
from hooks.health import check_health, check_round_trip, start_lines
from hooks.ports import HookOrigin, HookPorts, HookSession, unconfined_hook
from hooks.runner import HookRunner
from permissions.base.process.background_tasks import BackgroundTasks
from permissions.base.process.spawn import Confine
from permissions.confinement import Confinement

StartSource = Literal["startup", "resume", "clear", "fork"]


class StartHooks(Struct, frozen=True, kw_only=True):
    """Fires the hooks of a start, once."""

    start: StartContext
    dispatch: HookDispatch
    sources: HookSources
    model: Callable[[], str]
    background: BackgroundTasks

    async def run(self) -> None:
        """Fire Setup if the command line asked for it, SessionStart, and the instruction events."""
        options, resumed_conversation = self.start.options, self.start.resumed_conversation
        if options.setup is not None:
            await self.dispatch.setup(options.setup)
        await self.dispatch.session_start(
            start_source(self.start),
            self.model(),
            title=(resumed_conversation.title or None)
            if resumed_conversation is not None
            else None,
            context_tokens=(resumed_conversation.context_tokens or None)
            if resumed_conversation is not None
            else None,
        )
        if not options.headless and self.dispatch.take_first_message() is not None:
            self.dispatch.firing.warn("SessionStart: initialUserMessage has an effect only with -p")
        await self.sources.start()
        self.background.start(self.report_health())

    async def report_health(self) -> None:
        """Report which configured hooks cannot work, before they are needed."""
        env, cwd = self.start.own_env, self.start.environment.launch_dir
        specs = self.dispatch.runner.config.all()
        findings = await asyncio.to_thread(
            check_health, specs, env=env, cwd=cwd, project_dir=self.start.settings.project_root
        )
        for line in start_lines(findings, self.dispatch.runner.missing):
            self.dispatch.firing.warn(line)
        if any(isinstance(spec.handler, CommandHandler) for spec in specs):
            problem = await check_round_trip(env=env, cwd=cwd)
            if problem is not None:
                self.dispatch.firing.warn(f"Hooks would fail: {problem}")


def start_source(start: StartContext) -> StartSource:
    """Return the `source` value of the SessionStart event."""
    if start.resumed_conversation is not None:
        return "fork" if start.options.fork_session else "resume"
    return "clear" if start.options.after_clear else "startup"


class HookParts(Struct, frozen=True):
    """The parts that fire hooks, and the session data that every hook receives."""

    session: HookSession
    runner: HookRunner
    dispatch: HookDispatch


def build_hooks(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    session: HookSession,
    *,
    model: ModelParts,
    recording: Recording,
) -> HookParts:
    """Build the runner with the hooks of settings and plugins, and the dispatch."""
    environment = start.environment
    runner = HookRunner(
        hook_config(start.settings),
        session=session,
        ports=HookPorts(
            env=start.own_env,
            env_of_others=start.env,
            ask_small_model=model.small.for_hooks,
            run_hook_agent=HookAgent(late.ports, state.stream.emit),
            call_mcp_tool=partial(_call_server, late),
            confine=partial(confine_hook, start.sandbox, (start.session.path,)),
        ),
    )
    specs, warnings = plugin_hooks(
        start.options.plugin_dirs,
        launch_dir=environment.launch_dir,
        data_home=environment.agent_home / "plugins" / "data",
    )
    runner.register(specs)
    start.notes.extend(warnings)
    if start.lead is not None:
        own, problems = hooks_of_lead(start.lead)
        runner.register(own)
        start.notes.extend(problems)
    firing = HookFiring(
        runner,
        session,
        env_files=state.env_files,
        cwd=late.cwd,
        listeners=_listeners(start, late, state, recording),
    )
    return HookParts(session, runner, HookDispatch(firing))


async def _call_server(
    late: LateParts, server: str, tool: str, tool_input: Mapping[str, object]
) -> str:
    """Call a server's tool and return its text. Raises AgentError."""
    live = late.servers_or_none()
    if live is None:
        raise AgentError(f"There is no MCP server named {server} here.")
    return await live.call_for_text(server, tool, tool_input)


def confine_hook(sandbox: Sandbox, visible: Sequence[Path], hook: HookOrigin) -> Confine:
    """Return what confines a hook: those of others to the project, without network."""
    if hook.source not in OF_OTHERS or not sandbox.settings().confines_hooks:
        return unconfined_hook(hook)
    request = RunRequest(
        Confinement.PROJECT,
        write_dirs=tuple(map(str, hook.writable)),
        visible=tuple(map(str, (*visible, *hook.readable))),
        masks_denied=False,
        opens_written=True,
    )
    return sandbox.confine_where_held(request)


def _listeners(
    start: StartContext, late: LateParts, state: SharedState, recording: Recording
) -> HookListeners:
    """Return the listeners that carry out what hooks ask for."""

    def soon(work: Callable[[], Awaitable[None]]) -> None:
        state.background.start(work())

    return HookListeners(
        watch_paths=lambda paths: late.sources().watch_paths(paths),
        session_title=lambda title: soon(lambda: recording.recorder.title(title.strip())),
        reload_skills=lambda: soon(late.custom().refresh),
        terminal=start.user.terminal or (lambda _: None),
        # In a headless run, notices of hooks are part of the output.
        notify=None if start.options.headless else start.user.notice,
        live=start.user.live,
        background_tasks=lambda: running(state.shells),
    )


def running(shells: ShellRegistry) -> list[dict[str, object]]:
    """Return the running background commands, in the form that stop hooks expect."""
    return [
        {"id": shell.id, "type": "shell", "status": "running", "command": shell.command}
        for shell in shells.all()
        if shell.is_running
    ]
