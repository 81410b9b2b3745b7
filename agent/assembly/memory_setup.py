"""Build what is remembered beyond a session: where facts are, and what extracts new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.assembly.context_setup import BuildRequest
from agent.assembly.model_setup import ModelParts
from agent.assembly.start_context import StartContext
from agent.memory.extractor import ExtractorPorts, FactExtractor
from agent.memory.facts import FactStore
from agent.recovery.retry import RequestSource
from agent.session.store import project_slug
from agent.settings.load import Settings
from permissions.base.text.redactor import Redactor

STATE_FILE: Final = "memory.json"
"""In the session's directory: how far the extraction of facts is, and notes on the session."""


def facts_directory(agent_home: Path, project_root: Path) -> Path:
    """Return where the facts of a project are."""
    return agent_home / "memory" / project_slug(project_root)


def everywhere(agent_home: Path) -> Path:
    """Return where the facts about the user are, which apply in every project."""
    return agent_home / "memory" / "everywhere"


def fact_store(start: StartContext, redactor: Redactor) -> FactStore:
    """Return the facts of the start's project."""
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
    request: BuildRequest,
) -> FactExtractor:
    """Return what extracts facts after each prompt, where the user enabled that."""
    accounting = model.accounting
    return FactExtractor(
        ExtractorPorts(
            client=model.client,
            request=request,
            recovery=lambda: replace(model.recovery, policy=model.policy(RequestSource.MEMORY)),
            account=accounting.add_quietly,
            store=store,
            state=start.directory / STATE_FILE,
            is_on=lambda: (
                accounting.spent() is None
                and not start.is_demo
                and is_extraction_on(start.settings)
            ),
        )
    )


def is_extraction_on(settings: Settings) -> bool:
    """Whether turns are looked through for facts; it costs, so no project sets it."""
    return settings.values.autoMemoryEnabled is True
