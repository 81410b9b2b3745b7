"""What a start means for hooks: Setup and SessionStart, and who does what hooks ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from agent.assembly.start_context import StartContext
from agent.commands.sources.command_files import CustomCommands
from agent.hook_events.dispatch import HookDispatch
from agent.hook_events.file_events import HookSources
from agent.hook_events.fire import HookListeners
from agent.session.recorder import SessionRecorder
from agent.tools.services import ToolServices
from agent.tools.shell.shells import ShellRegistry
from hooks.answers.response import first_line
from hooks.config.spec import CommandHandler
from hooks.health import check_health, check_round_trip
from permissions.base.process.background_tasks import BackgroundTasks

StartSource = Literal["startup", "resume", "clear", "fork"]


class StartHooks(Struct, frozen=True, kw_only=True):
    """Fires the hooks of a start, once."""

    start: StartContext
    dispatch: HookDispatch
    sources: HookSources
    model: Callable[[], str]
    background: BackgroundTasks

    async def run(self) -> None:
        """Fire Setup where the command line asked, SessionStart, and what was loaded at start."""
        options, resumed = self.start.options, self.start.resumed
        if options.setup is not None:
            await self.dispatch.setup(options.setup)
        await self.dispatch.session_start(
            start_source(self.start),
            self.model(),
            title=(resumed.title or None) if resumed is not None else None,
            context_tokens=(resumed.context_tokens or None) if resumed is not None else None,
        )
        if not options.headless and self.dispatch.take_first_message() is not None:
            self.dispatch.say("SessionStart: initialUserMessage has an effect only with -p")
        await self.sources.start()
        self.background.start(self.tell_health())

    async def tell_health(self) -> None:
        """Say which of the configured hooks could not work, before they are needed."""
        env, cwd = self.start.env, self.start.environment.launch_dir
        specs = self.dispatch.runner.config.all()
        for finding in await asyncio.to_thread(check_health, specs, env=env, cwd=cwd):
            spec = finding.spec
            name = f"{spec.event} hook {first_line(spec.label)[:80]!r} ({spec.where})"
            self.dispatch.say(f"{name} would fail: {finding.message}")
        if any(isinstance(spec.handler, CommandHandler) for spec in specs):
            problem = await check_round_trip(env=env, cwd=cwd)
            if problem is not None:
                self.dispatch.say(f"Hooks would fail: {problem}")


def start_source(start: StartContext) -> StartSource:
    """Return why the session starts, in the words of SessionStart."""
    if start.resumed is not None:
        return "fork" if start.options.fork_session else "resume"
    return "clear" if start.options.after_clear else "startup"


def listen(
    dispatch: HookDispatch,
    start: StartContext,
    *,
    recorder: SessionRecorder,
    custom: CustomCommands,
    services: ToolServices,
    background: BackgroundTasks,
) -> None:
    """Let those who can do it hear what hooks ask for, and hooks where the shell is."""

    def soon(work: Callable[[], Awaitable[None]]) -> None:
        background.start(work())

    dispatch.cwd = lambda: services.cwd
    listeners: HookListeners = dispatch.listeners
    listeners.session_title = lambda title: soon(lambda: recorder.title(title.strip()))
    listeners.reload_skills = lambda: soon(custom.refresh)
    listeners.background_tasks = lambda: running(services.shells)
    listeners.tell = start.user.notice
    listeners.live = start.user.live
    if start.user.terminal is not None:
        listeners.terminal = start.user.terminal


def running(shells: ShellRegistry) -> list[dict[str, object]]:
    """Return what still runs in the background, as stop hooks read it."""
    return [
        {"id": shell.id, "type": "shell", "status": "running", "command": shell.command}
        for shell in shells.all()
        if shell.is_running
    ]
