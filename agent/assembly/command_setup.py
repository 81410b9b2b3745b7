"""Wires commands, skills, mentions and the file list for one conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agent.commands.context import CommandContext, CommandSession
from agent.commands.expand import Expander, Surround, TemplateRunner
from agent.commands.registry import CommandRegistry
from agent.commands.service import CommandService
from agent.commands.skill_hooks import SkillHooks
from agent.commands.skills import Skills
from agent.commands.sources.command_files import CustomCommands
from agent.commands.sources.discover import CommandFinder
from agent.commands.sources.folders import CommandPlaces
from agent.commands.sources.frontmatter_cache import FILE, HeadCache
from agent.commands.spec import Surface
from agent.commands.table import BUILTIN_COMMANDS
from agent.commands.turn_scope import ModelChoice, TurnScope
from agent.files.index import FileIndex
from agent.files.mentions import MentionReader
from agent.hook_events.dispatch import HookDispatch
from agent.model.client import Effort
from agent.prompt.instruction_files import InstructionFile
from agent.prompt.system import note
from agent.settings.load import Settings
from agent.tools.call import CallPorts
from agent.tools.event_queue import SideEvents
from agent.tools.services import ToolServices
from permissions.gate import PermissionGate
from permissions.rule import RuleSource

if TYPE_CHECKING:
    from agent.conversation.conversation import Conversation
    from agent.conversation.conversation_ports import Reminders


class _Reminders(Protocol):
    def first(self) -> Sequence[str]: ...
    def before_prompt(self) -> Sequence[str]: ...


class CommandPorts(Struct, frozen=True, kw_only=True):
    """What commands need of the conversation that is being put together."""

    settings: Callable[[], Settings]
    services: ToolServices
    gate: PermissionGate
    calls: Callable[[], CallPorts]
    hooks: HookDispatch
    side: SideEvents
    choice: ModelChoice
    model: Callable[[], str]
    effort: Callable[[], Effort | None]
    is_headless: bool


class CommandParts:
    """The parts, before there is a conversation."""

    def __init__(self, ports: CommandPorts) -> None:
        """Begin to read command files in the background."""
        settings = ports.settings()
        places = CommandPlaces(
            settings.home,
            settings.agent_home,
            settings.project_root,
            with_own=RuleSource.USER in settings.sources,
            with_project=RuleSource.PROJECT in settings.sources,
        )
        heads = HeadCache(settings.agent_home / FILE)
        finder = CommandFinder(places, lambda: ports.settings().trust, heads)
        self._ports = ports
        self.custom = CustomCommands(finder, places)
        self.custom.approve = lambda file: ports.hooks.may_change_settings("skills", file)
        self.registry = CommandRegistry(
            [self.custom.commands, lambda: BUILTIN_COMMANDS],
            Surface.HEADLESS if ports.is_headless else Surface.SCREEN,
        )
        runner = TemplateRunner(
            ports.calls,
            Surround(ports.services.session_id, settings.project_root, ports.effort),
        )
        mentions = MentionReader(ports.services, ports.gate)
        scope = TurnScope(ports.gate, ports.choice, ports.model, ports.effort)
        skill_hooks = SkillHooks(ports.hooks)
        self.skills = Skills(self.registry, runner, mentions, scope, skill_hooks, ports.side)
        self.files = FileIndex(
            settings.launch_dir,
            ports.services.env,
            respect_ignore_files=settings.values.respectGitignore is not False,
        )
        reading = self.custom.refresh(in_thread=not ports.is_headless)
        self._reading = asyncio.ensure_future(reading)
        self.expander = Expander(
            self.registry, runner, mentions, scope, ports.hooks, skill_hooks, ready=self.ready
        )

    async def ready(self) -> None:
        """Return once command files have been read."""
        await asyncio.shield(self._reading)

    def reminders(self, inner: _Reminders) -> SkillReminders:
        """Return reminders that also tell of skills."""
        return SkillReminders(inner, self.skills)

    def center(
        self,
        session: CommandSession,
        *,
        instructions: Callable[[], Sequence[InstructionFile]],
        on_directory: Callable[[Path], None],
        env: Mapping[str, str],
        version: str,
        endpoint: str,
        list_models: Callable[[], Awaitable[Sequence[str]]],
        reload_settings: Callable[[], Awaitable[None]],
        ask_aside: Callable[[str], Awaitable[str]],
    ) -> CommandService:
        """Return what the screen uses, once there is a conversation."""
        ports, settings = self._ports, self._ports.settings()
        return CommandService(
            self.registry,
            self.custom,
            CommandContext(
                session=session,
                registry=self.registry,
                custom=self.custom,
                settings=ports.settings,
                gate=ports.gate,
                hooks=ports.hooks.runner,
                shells=ports.services.shells,
                instructions=instructions,
                on_directory=on_directory,
                env=env,
                home=settings.home,
                agent_home=settings.agent_home,
                version=version,
                endpoint=endpoint,
                list_models=list_models,
                reload_settings=reload_settings,
                ask_aside=ask_aside,
            ),
            self.files,
            self.ready,
        )

    async def aclose(self) -> None:
        """Stop reading and watching."""
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self.custom.aclose()
        await self.files.aclose()


class SkillReminders:
    """Tells the model which skills there are: once, and again when they change."""

    def __init__(self, inner: _Reminders, skills: Skills) -> None:
        """`inner` tells everything else."""
        self._inner = inner
        self._skills = skills

    def first(self) -> Sequence[str]:
        """Return what opens a conversation."""
        return self._inner.first()

    def before_prompt(self) -> Sequence[str]:
        """Return what changed since the last prompt."""
        news = self._skills.news()
        return [*self._inner.before_prompt(), *([note(news)] if news is not None else [])]


if TYPE_CHECKING:

    def _proves(conversation: Conversation, reminders: SkillReminders) -> tuple[object, object]:
        session: CommandSession = conversation
        told: Reminders = reminders
        return session, told
