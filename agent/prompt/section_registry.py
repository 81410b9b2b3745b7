"""Sections of the prompt by name, each with its caching: computed once, or volatile, with a reason.

There are two zones: the static one is the same for all users and comes first; the session zone is
computed once per conversation. Volatile sections are never part of the system prompt, which must
stay byte-identical: they become notes at the end of the history and stay there (pattern
"prompt-architecture").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from msgspec import Struct

from agent.prompt.prompt_context import PromptContext

Compute = Callable[[PromptContext], str | None]
"""Returns a section's text, or None if it is empty."""


class Zone(StrEnum):
    """Where a section is placed and how often it is computed."""

    STATIC = "static"
    """The same for every user and session: computed once."""
    SESSION = "session"
    """Known when the conversation starts: computed once per conversation."""
    VOLATILE = "volatile"
    """Changes while the conversation runs: a note at the end of the history."""


class Section(Struct, frozen=True):
    """One named piece of the prompt."""

    name: str
    zone: Zone
    compute: Compute
    reason: str = ""
    """Why a volatile section cannot be cached; empty for the others."""


class SectionRegistry:
    """The sections in the order they were registered."""

    def __init__(self) -> None:
        """Start without sections."""
        self._sections: dict[str, Section] = {}

    def register_cached_section(
        self, name: str, compute: Compute, *, zone: Zone = Zone.STATIC
    ) -> Section:
        """Add a section of the system prompt.

        Raises:
            ValueError: the name is taken, or the zone is the volatile one.
        """
        if zone is Zone.VOLATILE:
            raise ValueError("a volatile section needs a reason: use register_volatile_section")
        return self._add(Section(name, zone, compute))

    def register_volatile_section(self, name: str, compute: Compute, *, reason: str) -> Section:
        """Add a section that may differ from prompt to prompt.

        Raises:
            ValueError: the name is taken, or there is no reason.
        """
        if not reason.strip():
            raise ValueError(f"section {name!r}: say why it cannot be cached")
        return self._add(Section(name, Zone.VOLATILE, compute, reason))

    def sections(self, zone: Zone) -> tuple[Section, ...]:
        """Return a zone's sections in order."""
        return tuple(s for s in self._sections.values() if s.zone is zone)

    def all(self) -> tuple[Section, ...]:
        """Return every section, for an audit of zones and reasons."""
        return tuple(self._sections.values())

    def _add(self, section: Section) -> Section:
        if section.name in self._sections:
            raise ValueError(f"section {section.name!r} is registered already")
        self._sections[section.name] = section
        return section


def texts(sections: Iterable[Section], context: PromptContext) -> tuple[str, ...]:
    """Compute sections; empty ones are left out."""
    section_texts = (section.compute(context) for section in sections)
    return tuple(text.strip() for text in section_texts if text and text.strip())
