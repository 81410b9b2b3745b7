"""Wires sub-agents: their tools, prompt and ports, from those of the conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from agent.hook_dispatch import HookDispatch
from agent.loop_ports import LoopPorts
from agent.loop_setup import request_builder
from agent.messages import Message
from agent.model_in_use import ModelInUse
from agent.prompt.builtin import builtin_registry
from agent.prompt.context import PromptContext
from agent.prompt.system import PromptConfig, build_system
from agent.recovery.retry import RequestSource, RetryPolicy
from agent.subagent import BuiltSubagent, SubagentSpec
from agent.tools.file_state import FileState

_PROMPT: Final = (
    "You work for another agent, not for a person: nobody can answer questions. Do the task you "
    "are given with the tools you have, then answer with a report of at most 300 words: what you "
    "found or changed, with file paths and line numbers. Only that report is passed on."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentSetup:
    """What sub-agents take over from their conversation."""

    parent: LoopPorts
    dispatch: HookDispatch
    used: ModelInUse
    policy: Callable[[RequestSource], RetryPolicy]
    context: Callable[[], PromptContext]

    def build(self, spec: SubagentSpec) -> BuiltSubagent:
        """Return one sub-agent, ready to run."""
        parent = self.parent
        registry = parent.calls.registry
        tools = registry.without({t.name for t in registry.all() if not spec.has_tool(t.name)})
        services = replace(
            parent.calls.services, files=FileState(), person=None, subagents=None, todos=()
        )
        hooks = self.dispatch.for_subagent(spec.agent_id, spec.agent_type, "")
        system = build_system(self.context(), builtin_registry(), PromptConfig(append_tail=_PROMPT))
        ports = replace(
            parent,
            recovery=replace(parent.recovery, policy=self.policy(RequestSource.SUB_AGENT)),
            calls=replace(
                parent.calls,
                registry=tools,
                hooks=hooks,
                services=services,
                side=None,
                agent_type=spec.agent_type,
            ),
            hooks=hooks,
            request=request_builder(self.used, system, tools.to_wire(), model=spec.model),
            queued=_nothing_queued,
            reports=list,
            context=None,
            after_calls=None,
        )
        return BuiltSubagent(ports, hooks)


async def _nothing_queued() -> list[Message]:
    return []
