"""Hooks of an agent's definition: in force while it works, for its own events alone."""

from __future__ import annotations

from msgspec.structs import replace

from agent.hook_events.hook_dispatch import HookDispatch
from agent.subagents.running_agent import RunningAgent
from hooks.config.section import parse_hooks
from hooks.config.spec import HookSource


def register_hooks(agent: RunningAgent, dispatch: HookDispatch) -> str | None:
    """Put the hooks of an agent in force; returns what unregisters them, None where it has none.

    Trust is that of the file: without it there is no such agent.
    """
    wanted = agent.definition.hooks
    if not wanted:
        return None
    owner = f"agent:{agent.id}"
    path = agent.definition.path
    specs, warnings = parse_hooks(
        wanted, source=HookSource.AGENT, file=str(path) if path is not None else None, owner=owner
    )
    dispatch.runner.register(replace(spec, only_agent=agent.id) for spec in specs)
    for warning in warnings:
        dispatch.firing.warn(str(warning))
    return owner
