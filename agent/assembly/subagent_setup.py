"""Build sub-agents: their tools, prompt and ports, from those of the conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.assembly.context_setup import ContextSetup, request_builder
from agent.assembly.model_setup import ModelParts
from agent.assembly.prompt_setup import PromptParts
from agent.assembly.wiring import LateParts, SharedState
from agent.conversation.model_selection import ModelInUse
from agent.hook_events.hook_dispatch import HookDispatch
from agent.hook_events.path_instructions import PathInstructions
from agent.loop.loop_ports import LoopPorts
from agent.messages import Message
from agent.model.endpoint import expand_alias
from agent.prompt.instruction_files import Instructions
from agent.prompt.prompt_context import PromptContext
from agent.prompt.sections import builtin_registry
from agent.prompt.system import PromptConfig, build_system
from agent.recovery.retry import RequestSource, RetryPolicy
from agent.subagents.subagent import BuiltSubagent, SubagentRunner, SubagentSpec
from agent.tools.file_state import FileState
from agent.tools.repeated_failures import RepeatedFailures

_PROMPT: Final = (
    "You work for another agent, not for a person: nobody can answer questions. Do the task you "
    "are given with the tools you have, then answer with a report of at most 300 words: what you "
    "found or changed, with file paths and line numbers. Only that report is passed on."
)


def build_subagents(
    late: LateParts,
    shared: SharedState,
    model: ModelParts,
    dispatch: HookDispatch,
    prompt: PromptParts,
    managers: ContextSetup,
    *,
    append: str | None,
) -> SubagentRunner:
    """Return what builds and runs sub-agents; `append` ends their system prompt too."""
    setup = SubagentSetup(
        parent=late.ports,
        dispatch=dispatch,
        used=model.used,
        policy=model.policy,
        context=prompt.context,
        instructions=prompt.instructions,
        managers=managers,
        tail="\n\n".join(filter(None, (_PROMPT, append))),
    )
    return SubagentRunner(setup.build, shared.stream.emit)


class SubagentSetup(Struct, frozen=True, kw_only=True):
    """What sub-agents inherit from their conversation."""

    parent: Callable[[], LoopPorts]
    dispatch: HookDispatch
    used: ModelInUse
    policy: Callable[[RequestSource], RetryPolicy]
    context: Callable[[], PromptContext]
    instructions: Instructions
    managers: ContextSetup
    tail: str
    """Ends the system prompt."""

    def build(self, spec: SubagentSpec) -> BuiltSubagent:
        """Return one sub-agent, ready to run."""
        parent = self.parent()
        registry = parent.calls.registry
        tools = registry.without({t.name for t in registry.all() if not spec.has_tool(t.name)})
        services = replace(
            parent.calls.services,
            files=FileState(),
            user=None,
            refusals=None,
            subagents=None,
            todos=(),
        )
        turn_id = self.dispatch.firing.turn_id()

        def cwd() -> Path:
            return services.cwd

        hooks = self.dispatch.for_subagent(spec.agent_id, spec.agent_type, turn_id, cwd=cwd)
        system = build_system(
            self.context(), builtin_registry(), PromptConfig(append_tail=self.tail)
        )
        wire = tools.to_wire()
        model = expand_alias(spec.model) if spec.model else None
        request = request_builder(self.used, system, wire, model=model)
        recovery = replace(parent.recovery, policy=self.policy(RequestSource.SUB_AGENT))
        nested = PathInstructions(hooks, self.instructions.for_another_agent(), cwd)
        ports = replace(
            parent,
            recovery=recovery,
            calls=replace(
                parent.calls,
                registry=tools,
                hooks=hooks.tools,
                services=services,
                failures=RepeatedFailures(),
                agent_type=spec.agent_type,
            ),
            hooks=hooks,
            request=request,
            queued=_nothing_queued,
            reports=list,
            context=self.managers.build(
                request, recovery, hooks, system, wire, model=model, agent_id=spec.agent_id
            ),
            after_calls=nested.after_calls,
        )
        return BuiltSubagent(ports, hooks)


async def _nothing_queued() -> list[Message]:
    return []
