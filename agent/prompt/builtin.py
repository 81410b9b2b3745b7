"""The registry as it ships: which sections there are, in which order and zone."""

from __future__ import annotations

from agent.prompt.registry import SectionRegistry, Zone
from agent.prompt.sections import (
    date,
    doing_tasks,
    environment,
    facts,
    git_state,
    identity,
    instructions,
    mode,
    safety,
    tone,
    tool_use,
)


def builtin_registry() -> SectionRegistry:
    """Return a fresh registry with the built-in sections."""
    registry = SectionRegistry()
    registry.register_cached_section("identity", identity.compute)
    registry.register_cached_section("tone", tone.compute)
    registry.register_cached_section("doing_tasks", doing_tasks.compute)
    registry.register_cached_section("tool_use", tool_use.compute)
    registry.register_cached_section("safety", safety.compute)
    registry.register_cached_section("environment", environment.compute, zone=Zone.SESSION)
    registry.register_cached_section("instructions", instructions.compute, zone=Zone.SESSION)
    registry.register_volatile_section(
        "date", date.compute, reason="changes at midnight, and on every resume"
    )
    registry.register_volatile_section(
        "mode", mode.compute, reason="the person switches it at any moment"
    )
    registry.register_volatile_section(
        "facts", facts.compute, reason="every session may add to them"
    )
    registry.register_volatile_section(
        "git_state", git_state.compute, reason="every edit and commit changes it"
    )
    return registry
