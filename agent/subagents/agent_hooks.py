"""Hooks of an agent's definition: in force while it works, for its own events alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from agent.hook_events.hook_dispatch import HookDispatch
from agent.subagents.definition import AgentDefinition
from agent.subagents.running_agent import RunningAgent
from hooks.config.section import ConfigWarning, parse_hooks
from hooks.config.spec import HandlerSpec, HookSource


def register_hooks(agent: RunningAgent, dispatch: HookDispatch) -> str | None:
    """Put the hooks of an agent in force; returns what unregisters them, None where it has none.

    Trust is that of the file: without it there is no such agent.
    """
    hooks = agent.definition.hooks
    if not hooks:
        return None
    owner = f"agent:{agent.id}"
    specs, warnings = _parse_hooks(agent.definition, hooks, owner)
    dispatch.runner.register(replace(spec, only_agent=agent.id) for spec in specs)
    for warning in warnings:
        dispatch.firing.warn(str(warning))
    return owner


def hooks_of_lead(lead: AgentDefinition) -> tuple[list[HandlerSpec], list[str]]:
    """Return the hooks of the agent that leads a session, and what is wrong with them."""
    own = dict(lead.hooks or {})
    # Its end is that of a turn, not of a sub-agent.
    stops, of_stops = _parse_hooks(lead, {"Stop": own.pop("Stop")} if "Stop" in own else {}, "lead")
    others, of_others = _parse_hooks(lead, own, "lead")
    specs = [*others, *(replace(spec, event="Stop") for spec in stops)]
    return specs, [str(warning) for warning in (*of_others, *of_stops)]


def _parse_hooks(
    definition: AgentDefinition, hooks: Mapping[str, object], owner: str
) -> tuple[Sequence[HandlerSpec], Sequence[ConfigWarning]]:
    file = str(definition.path) if definition.path is not None else None
    return parse_hooks(hooks, source=HookSource.AGENT, file=file, owner=owner)
