"""Build commands, skills, mentions and the file list of one conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agent.assembly.agents.workflow_setup import workflow_places
from agent.assembly.model_setup import ModelParts
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts, SharedState
from agent.commands.command_registry import CommandRegistry
from agent.commands.expand import Expander, TemplateRunner, TemplateValues
from agent.commands.skill_hooks import SkillHooks
from agent.commands.skill_loader import Skills
from agent.commands.sources.command_files import CustomCommands
from agent.commands.sources.directories import CommandLocations
from agent.commands.sources.discover import CommandFinder
from agent.commands.sources.frontmatter_cache import FILE, FrontmatterCache
from agent.commands.sources.workflow_commands import WorkflowCommands
from agent.commands.spec import Command, Surface
from agent.commands.table import BUILTIN_COMMANDS
from agent.commands.turn_scope import TurnScope
from agent.files.file_index import FileIndex
from agent.files.mentions import CheckResource, MentionReader
from agent.hook_events.hook_dispatch import HookDispatch
from agent.messages import Block
from agent.prompt.system import note
from permissions.gate import PermissionGate
from permissions.rule import RuleSource

if TYPE_CHECKING:
    from agent.conversation.conversation_ports import Reminders


class _Reminders(Protocol):
    def first(self) -> Sequence[str]: ...
    def before_prompt(self) -> Sequence[str]: ...


class CommandAssembly(Struct, frozen=True):
    """The parts that read commands, skills and mentions."""

    custom: CustomCommands
    registry: CommandRegistry
    skills: Skills
    files: FileIndex
    expander: Expander
    reading: asyncio.Future[None]
    """The first reading of the command files."""

    async def ready(self) -> None:
        """Return once command files have been read."""
        await asyncio.shield(self.reading)

    def reminders(self, inner: _Reminders, agents: Callable[[], str | None]) -> SkillReminders:
        """Return reminders that also list skills and agents after they changed."""
        return SkillReminders(inner, self.skills, agents)

    async def aclose(self) -> None:
        """Stop reading and watching."""
        self.reading.cancel()
        await asyncio.wait({self.reading})
        await self.custom.aclose()
        await self.files.aclose()


def build_commands(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    *,
    model: ModelParts,
    gate: PermissionGate,
    hooks: HookDispatch,
) -> CommandAssembly:
    """Build the parts, and begin to read command files in the background."""
    settings, is_headless = start.settings, start.options.headless
    places = CommandLocations(
        settings.home,
        settings.agent_home,
        settings.project_root,
        with_own=RuleSource.USER in settings.sources,
        with_project=RuleSource.PROJECT in settings.sources,
        launch_dir=settings.launch_dir,
        plugins=start.plugins,
    )
    heads = FrontmatterCache(settings.agent_home / FILE)
    custom = late.custom.bind(
        CustomCommands(
            CommandFinder(places, lambda: start.settings.trust, heads),
            places,
            approve=lambda file: hooks.may_change_settings("skills", file),
        )
    )
    registry = CommandRegistry(
        [
            custom.commands,
            lambda: BUILTIN_COMMANDS,
            partial(_server_prompts, late),
            _workflows(start, late),
        ],
        Surface.HEADLESS if is_headless else Surface.SCREEN,
    )
    runner = TemplateRunner(
        lambda: late.ports().calls,
        hooks,
        TemplateValues(start.session.id, settings.project_root, model.effort),
    )
    mentions = MentionReader(late.services, gate, partial(_resource, late))
    scope = TurnScope(gate, model.model_in_use, model.name, model.effort)
    skill_hooks = SkillHooks(hooks)
    files = FileIndex(
        settings.launch_dir,
        start.reading,
        respect_ignore_files=settings.values.respectGitignore is not False,
    )
    reading = asyncio.ensure_future(custom.refresh(in_thread=not is_headless))

    async def ready() -> None:
        await asyncio.shield(reading)

    return CommandAssembly(
        custom,
        registry,
        Skills(
            registry,
            runner,
            mentions,
            scope,
            skill_hooks,
            state.stream.emit,
            only=start.options.skills,
        ),
        files,
        Expander(registry, runner, mentions, scope, hooks, skill_hooks, ready=ready),
        reading,
    )


def _workflows(start: StartContext, late: LateParts) -> Callable[[], Sequence[Command]]:
    """Return a function that lists saved workflows; a project must be trusted for its own."""

    def directories() -> Sequence[Path]:
        return tuple(workflow_places(start.settings, late.cwd()).directories())

    return WorkflowCommands(directories)


def _server_prompts(late: LateParts) -> Sequence[Command]:
    """Return the prompts of connected servers as commands."""
    live = late.servers_or_none()
    if live is None:
        return ()
    from agent.commands.sources.server_prompts import prompt_commands  # imported with servers

    return prompt_commands(live.servers)


async def _resource(late: LateParts, name: str, check: CheckResource) -> Sequence[Block] | None:
    """Return the contents of a server's resource; None if no resource has the name."""
    live = late.servers_or_none()
    return await live.read_mention(name, check) if live is not None else None


class SkillReminders:
    """Lists skills for the model: once, and again when they change; agents when they change."""

    def __init__(self, inner: _Reminders, skills: Skills, agents: Callable[[], str | None]) -> None:
        """`inner` returns all other reminders; `agents` returns changes to the kinds of agents."""
        self._inner = inner
        self._skills = skills
        self._agents = agents

    def first(self) -> Sequence[str]:
        """Return the reminders at the start of a conversation."""
        return self._inner.first()

    def before_prompt(self) -> Sequence[str]:
        """Return what changed since the last prompt."""
        news = filter(None, (self._skills.news(), self._agents()))
        return [*self._inner.before_prompt(), *map(note, news)]


if TYPE_CHECKING:

    def _check_protocol(reminders: SkillReminders) -> Reminders:
        return reminders
