"""The system prompt of one conversation: chosen by priority, built once, never changed."""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

from agent.messages import Block, text_block
from agent.prompt.prompt_context import PromptContext
from agent.prompt.section_registry import SectionRegistry, Zone, texts
from permissions.base.text.late_pattern import compile_late

_TAG: Final = compile_late(r"<(?=\s*/?\s*system-note)", re.IGNORECASE)


class PromptConfig(Struct, frozen=True):
    """What may replace the default prompt, in order of precedence.

    `append_tail` is always added at the end, except to an override.
    """

    override: str | None = None
    """Replaces the whole prompt, for special loops such as a summary."""
    coordinator: str | None = None
    agent: str | None = None
    """The prompt of an agent definition."""
    agent_mode: Literal["append", "replace"] = "replace"
    custom: str | None = None
    """`--system-prompt`: replaces the static sections, but not those of the session."""
    append_tail: str | None = None
    """`--append-system-prompt`."""


def build_system(
    context: PromptContext, registry: SectionRegistry, config: PromptConfig | None = None
) -> tuple[Block, ...]:
    """Return the system blocks: the static zone, the session zone, the tail; no empty ones.

    Call it once per conversation and store the result: any change would invalidate the cache and
    every thinking block.
    """
    chosen = config or PromptConfig()
    if chosen.override is not None:
        return _blocks(chosen.override)
    return _blocks(
        _static_zone(context, registry, chosen),
        "\n\n".join(texts(registry.sections(Zone.SESSION), context)),
        chosen.append_tail or "",
    )


def opening_notes(context: PromptContext, registry: SectionRegistry) -> tuple[str, ...]:
    """Return the volatile sections as notes for the start of a conversation."""
    return texts(registry.sections(Zone.VOLATILE), context)


def note(text: str) -> str:
    """Mark a text as a note from the program, inside a user message.

    What it quotes (a server's description, a report, a file) can neither end it nor begin another.
    """
    text = text.strip()
    if "system-note" in text.lower():
        text = _TAG.sub("‹", text)
    return f"<system-note>\n{text}\n</system-note>"


def _static_zone(context: PromptContext, registry: SectionRegistry, config: PromptConfig) -> str:
    default = "\n\n".join(texts(registry.sections(Zone.STATIC), context))
    if config.coordinator is not None:
        return config.coordinator
    if config.agent is not None:
        if config.agent_mode == "append":
            return f"{default}\n\n{config.agent.strip()}"
        return config.agent
    if config.custom is not None:
        return config.custom
    return default


def _blocks(*zones: str) -> tuple[Block, ...]:
    return tuple(text_block(zone.strip()) for zone in zones if zone.strip())
