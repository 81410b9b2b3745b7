"""Build the memory across sessions: the store of facts, and the extractor of new ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.assembly.model_setup import ModelParts
from agent.assembly.start_context import StartContext
from agent.errors import AgentError
from agent.loop.loop_ports import LoopPorts
from agent.memory.extractor import ExtractorPorts, FactExtractor
from agent.memory.facts import FactStore
from agent.recovery.retry import RequestSource
from agent.session.store import project_slug
from agent.settings.change import set_value
from permissions.base.text.failure_text import error_reason
from permissions.base.text.redactor import Redactor

STATE_FILE: Final = "memory.json"
"""File in the session's directory with the progress of fact extraction."""


def facts_directory(agent_home: Path, project_root: Path) -> Path:
    """Return the directory of a project's facts."""
    return agent_home / "memory" / project_slug(project_root)


def everywhere(agent_home: Path) -> Path:
    """Return the directory of facts about the user, which apply in every project."""
    return agent_home / "memory" / "everywhere"


def fact_store(start: StartContext, redactor: Redactor) -> FactStore:
    """Return the store of the project's facts."""
    home = start.environment.agent_home
    return FactStore(
        facts_directory(home, start.settings.project_root),
        everywhere(home),
        redact=redactor.text,
    )


def fact_extractor(
    start: StartContext,
    store: FactStore,
    model: ModelParts,
    loop: Callable[[], LoopPorts],
    reload_settings: Callable[[], Awaitable[None]],
) -> FactExtractor:
    """Return the extractor that stores facts after each prompt, if the user agreed."""

    def is_on() -> bool | None:
        may_cost = model.accounting.spent() is None and not start.is_demo
        return start.settings.values.autoMemoryEnabled if may_cost else False

    ask = start.user.keep_facts

    async def decide() -> bool:
        answer = await ask() if ask is not None else None
        if answer is not None:
            file = start.environment.agent_home / "settings.json"
            try:
                await asyncio.to_thread(set_value, file, "autoMemoryEnabled", answer)
                # Otherwise the watcher would report a change that the user did not make.
                await reload_settings()
            except (AgentError, OSError) as error:
                start.user.notify(
                    f"The answer applies to this session only: {error_reason(error)}", "warning"
                )
        return answer is True

    return FactExtractor(
        ExtractorPorts(
            loop=loop,
            recovery=lambda: replace(model.recovery, policy=model.policy(RequestSource.MEMORY)),
            store=store,
            state=start.directory / STATE_FILE,
            is_on=is_on,
            ask=decide if ask is not None else None,
        )
    )
