"""Hooks of an agent's definition: in force while it runs, only for its own events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from agent.hook_events.hook_dispatch import HookDispatch
from agent.subagents.definition import AgentDefinition
from agent.subagents.running_agent import RunningAgent
from hooks.config.section import ConfigWarning, parse_hooks
from hooks.config.spec import HandlerSpec, HookSource


def register_hooks(agent: RunningAgent, dispatch: HookDispatch) -> str | None:
    """Register the hooks of an agent; return their owner id for unregistering, None without hooks.

    Trust was checked with the file: an agent in an untrusted file does not exist.
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
    """Return the hooks of the agent that leads a session, and warnings about them."""
    own = dict(lead.hooks or {})
    # Its Stop event is that of a turn, not SubagentStop.
    stops, of_stops = _parse_hooks(lead, {"Stop": own.pop("Stop")} if "Stop" in own else {}, "lead")
    others, of_others = _parse_hooks(lead, own, "lead")
    specs = [*others, *(replace(spec, event="Stop") for spec in stops)]
    return specs, [str(warning) for warning in (*of_others, *of_stops)]


def _parse_hooks(
    definition: AgentDefinition, hooks: Mapping[str, object], owner: str
) -> tuple[Sequence[HandlerSpec], Sequence[ConfigWarning]]:
    file = str(definition.path) if definition.path is not None else None
    return parse_hooks(hooks, source=HookSource.AGENT, file=file, owner=owner)
