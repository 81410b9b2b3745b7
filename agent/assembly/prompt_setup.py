"""Build the sources of the system prompt and the reminders."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from msgspec import Struct

from agent.assembly.environment import Environment
from agent.assembly.model_setup import ModelParts
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import LateParts
from agent.memory.facts import FactStore
from agent.prompt.git import read_git_state
from agent.prompt.instruction_files import InstructionLocations, Instructions, MemoryType
from agent.prompt.prompt_context import PromptContext
from agent.prompt.section_registry import SectionRegistry
from agent.prompt.sections import builtin_registry
from agent.settings.load import Settings
from permissions.rule import RuleSource

_TYPES: Final[Mapping[RuleSource, MemoryType]] = {
    RuleSource.USER: "User",
    RuleSource.PROJECT: "Project",
    RuleSource.LOCAL: "Local",
}


class PromptParts(Struct, frozen=True):
    """The prompt's context, sections, instruction files and facts."""

    context: Callable[[], PromptContext]
    instructions: Instructions
    sections: SectionRegistry
    facts: FactStore


def instruction_places(settings: Settings, environment: Environment) -> InstructionLocations:
    """Return where instruction files are searched for."""
    return InstructionLocations(
        launch_dir=environment.launch_dir,
        project_root=settings.project_root,
        home=environment.home,
        agent_home=environment.agent_home,
        uid=environment.uid,
        excludes=tuple(settings.values.claudeMdExcludes or ()),
        types=frozenset(_TYPES[source] for source in settings.sources),
    )


async def build_prompt(
    start: StartContext, late: LateParts, *, model: ModelParts, facts: FactStore
) -> PromptParts:
    """Read instruction files and, in a trusted directory, the state of git."""
    settings, environment = start.settings, start.environment
    instructions = Instructions(instruction_places(settings, environment))
    files = await asyncio.to_thread(instructions.at_start)
    fact_index = await asyncio.to_thread(facts.index)
    is_repository = os.path.exists(settings.project_root / ".git")
    git = None
    if is_repository and settings.trust.is_settled:
        git = await read_git_state(settings.project_root, start.reading)

    def context() -> PromptContext:
        return PromptContext(
            launch_dir=environment.launch_dir,
            cwd=late.cwd(),
            platform=f"{platform.system()} {platform.release()} ({platform.machine()})",
            shell="bash",
            today=date.today(),
            model=model.name(),
            mode=late.mode(),
            is_repository=is_repository,
            git=git,
            additional_dirs=settings.additional_dirs,
            scratch_dir=start.scratch,
            instructions=files,
            facts=fact_index,
            headless=start.options.headless,
            language=settings.values.language,
        )

    return PromptParts(context, instructions, builtin_registry(), facts)
