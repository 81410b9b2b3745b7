"""The sub-agent of agent hooks: reads the project, decides one thing, fires no hooks.

It ends by calling `StructuredOutput`, or by answering with the same JSON as text, which some models
do instead of calling the tool. Reaching the limit of turns does not count as an answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agent.abort import AbortController
from agent.events import AgentEvent, MessageCommitted, RetryScheduled, UsageUpdate
from agent.loop.loop import AgentLoop
from agent.loop.loop_ports import LoopPorts
from agent.loop.no_hooks import NoHooks
from agent.messages import Message, text_block, user_message
from agent.model.client import ModelRequest
from agent.model.endpoint import expand_alias
from agent.stream import Emit, TurnEvents
from agent.tools.base import AnyTool, Concurrency, ToolContext, ToolOutcome, build_tool
from agent.tools.file_state import FileState
from hooks.execution.handlers.hook_call import ModelAnswerError, parse_model_answer
from hooks.ports import RunHookAgent
from permissions.evaluate.read_only_classifier import LocalClassifier
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.resolve.handlers import HeadlessHandler

OWN_TOOLS: Final = frozenset({"Read", "Glob", "Grep", "Bash"})


class HookAgent:
    """Runs the prompt of one agent hook; implements the hook runner's port."""

    def __init__(self, ports: Callable[[], LoopPorts], emit: Emit):
        """`ports` returns the conversation's ports; `emit` receives waits and usage."""
        self._ports = ports
        self._emit = emit

    async def __call__(
        self, prompt: str, *, system: str, model: str | None, max_turns: int
    ) -> Mapping[str, object] | None:
        """Return the input of `StructuredOutput`, or the JSON in its last text, or None."""
        answer: list[Mapping[str, object]] = []
        texts: list[str] = []
        controller = AbortController()

        def take(value: Mapping[str, object]) -> None:
            answer.append(value)
            controller.abort("answered")

        async def emit(event: AgentEvent) -> None:
            if isinstance(event, MessageCommitted) and event.message.role == "assistant":
                texts.append(event.message.text)
            if isinstance(event, UsageUpdate | RetryScheduled):
                await self._emit(event)

        ports = self._own_ports(system, model, take)
        events = TurnEvents(emit, "hook-agent", "hook-agent")
        loop = AgentLoop(ports, events, max_turns=max_turns)
        end = await loop.run((), [user_message(prompt)], controller)
        if not answer and end.reason == "completed":
            with contextlib.suppress(ModelAnswerError):
                answer.append(parse_model_answer(texts[-1]))
        return answer[0] if answer else None

    def _own_ports(
        self, system: str, model: str | None, take: Callable[[Mapping[str, object]], None]
    ) -> LoopPorts:
        parent = self._ports()
        calls = parent.calls
        others = {tool.name for tool in calls.registry.all()} - OWN_TOOLS
        registry = calls.registry.without(others)
        registry.register(structured_output_tool(take))
        wire = registry.to_wire()
        hooks = NoHooks()

        def request(messages: tuple[Message, ...]) -> ModelRequest:
            usual = parent.request(messages)
            return replace(
                usual,
                system=(text_block(system),),
                tools=wire,
                model=expand_alias(model) if model else usual.model,
            )

        services = replace(calls.services, files=FileState(), user=None, subagents=None)
        return replace(
            parent,
            calls=replace(
                calls,
                registry=registry,
                gate=_hook_agent_gate(calls.gate, lambda: services.cwd),
                hooks=hooks,
                services=services,
                recorder=None,
            ),
            hooks=hooks,
            request=request,
            take_queue=_empty_queue,
            reports=list,
            mail=None,
            context=None,
            after_calls=None,
        )


def _hook_agent_gate(gate: PermissionGate, cwd: Callable[[], Path]) -> PermissionGate:
    """Return the gate of a hook's agent: the session's rules in default mode, or in plan mode.

    A call that no rule allows is denied unless it only reads; no user is asked.
    """
    mode = Mode.PLAN if gate.mode is Mode.PLAN else Mode.DEFAULT
    reading = LocalClassifier(lambda request: own.current_evaluation(request, cwd=cwd()))
    own = PermissionGate(replace(gate.context, mode=mode), HeadlessHandler([reading]))
    return own


def structured_output_tool(take: Callable[[Mapping[str, object]], None]) -> AnyTool:
    """Return the tool that ends the sub-agent with an answer."""

    async def run(tool_input: Mapping[str, object], _context: ToolContext) -> ToolOutcome:
        take(tool_input)
        return ToolOutcome("Taken.")

    return build_tool(
        name="StructuredOutput",
        description="Give your conclusion. Call it exactly once, as your last action.",
        input_model=dict,  # the hook's own check decides what fits
        run=run,
        concurrency=lambda _: Concurrency.UNSAFE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        input_schema={
            "type": "object",
            "properties": {"ok": {"type": "boolean"}, "reason": {"type": "string"}},
            "required": ["ok"],
        },
    )


if TYPE_CHECKING:

    def _check_protocol(agent: HookAgent) -> RunHookAgent:
        return agent


async def _empty_queue() -> list[Message]:
    return []
