"""Build the prompt, ports and context manager of the main agent's loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import Struct

from agent.assembly.agents.agents_setup import AgentParts
from agent.assembly.command_setup import CommandAssembly
from agent.assembly.context_setup import (
    BuildRequest,
    ContextSetup,
    mark_strict,
    request_builder,
)
from agent.assembly.hook_setup import HookParts
from agent.assembly.memory_setup import fact_extractor
from agent.assembly.model_setup import ModelParts
from agent.assembly.prompt_setup import PromptParts
from agent.assembly.recording import Recording
from agent.assembly.start_context import RequestPrefix, StartContext
from agent.assembly.tool_setup import ToolParts, ended_shells, serve_tools
from agent.assembly.wiring import LateParts, SharedState
from agent.events import Notice
from agent.hook_events.file_events import HookSources
from agent.loop.answer_schema import AnswerSchema
from agent.loop.loop_ports import LoopPorts
from agent.memory.extractor import FactExtractor
from agent.messages import Message
from agent.options import RunOptions
from agent.prompt.expansion import PromptExpander
from agent.prompt.system import PromptConfig, build_system
from agent.teams.seat import TeamSeat
from agent.tools.call import MAX_CONCURRENT, CallPorts
from agent.user_prompt import Prompt
from permissions.gate import PermissionGate


class LoopParts(Struct, frozen=True):
    """The parts that the main agent's loop uses."""

    ports: LoopPorts
    prefix: RequestPrefix
    request: BuildRequest
    sources: HookSources
    extractor: FactExtractor


async def build_loop(
    start: StartContext,
    late: LateParts,
    state: SharedState,
    *,
    model: ModelParts,
    recording: Recording,
    hooks: HookParts,
    gate: PermissionGate,
    prompt: PromptParts,
    commands: CommandAssembly,
    tools: ToolParts,
    managers: ContextSetup,
    agents: AgentParts,
) -> LoopParts:
    """Build the ports, and record the system prompt and the mode."""
    options, recorder, dispatch = start.options, recording.recorder, hooks.dispatch
    answer = AnswerSchema(options.json_schema) if options.json_schema is not None else None
    seat = late.seat()
    config = _prompt_config(options, seat, answer)
    system = build_system(prompt.context(), prompt.sections, config)
    prefix = await start.prefix(system, tools.registry, recorder)
    await recorder.mode(str(gate.mode))
    model_in_use = model.model_in_use
    wire = mark_strict(tools.registry.to_wire(), model_in_use)
    request = request_builder(
        model_in_use,
        prefix.system,
        wire,
        late_tools=_late_tools(start, model, gate, tools),
    )
    if seat is not None:
        request = seat.request(request)
    extractor = fact_extractor(
        start, prompt.facts, model, late.ports, lambda: late.commands().context.reload_settings()
    )
    sources = late.sources.bind(
        HookSources(dispatch, prompt.instructions, prompt.context().instructions, late.cwd)
    )
    calls = CallPorts(
        registry=tools.registry,
        gate=tools.gate,
        hooks=dispatch.tools,
        services=tools.services,
        recorder=recorder,
        previews=state.previews,
        max_concurrent=start.settings.values.maxParallelTools or MAX_CONCURRENT,
    )
    context = managers.build(
        request,
        model.recovery,
        dispatch,
        prefix.system,
        wire,
        notes_on=extractor.notes_on,
    )
    # In a headless run the error of the first prompt reports it.
    if not start.options.headless and (advice := context.size_advice()) is not None:
        start.notes.append(advice)
    shells = ended_shells(state.shells)
    ports = LoopPorts(
        client=model.client,
        recovery=model.recovery,
        calls=calls,
        hooks=dispatch,
        request=request,
        account=model.accounting.account,
        spent=model.accounting.spent,
        take_queue=queue_taker(state.queue, commands.expander),
        reports=lambda: [
            *shells(),
            *agents.supervisor.reports.take(),
            *agents.workflows.take_reports(),
        ],
        mail=seat.mail if seat is not None else None,
        after_calls=sources.after_calls,
        context=context,
        answer=answer,
    )
    return LoopParts(late.ports.bind(ports), prefix, request, sources, extractor)


def _prompt_config(
    options: RunOptions, seat: TeamSeat | None, answer: AnswerSchema | None
) -> PromptConfig:
    tail = [
        seat.tail if seat is not None else None,
        options.append_system_prompt,
        answer.instruction if answer is not None else None,
    ]
    return PromptConfig(
        coordinator=seat.coordinator if seat is not None else None,
        custom=options.system_prompt,
        append_tail="\n\n".join(text for text in tail if text) or None,
    )


def _late_tools(
    start: StartContext, model: ModelParts, gate: PermissionGate, tools: ToolParts
) -> Callable[[], tuple[dict[str, object], ...]]:
    """Return a function that lists the tools after the fixed ones; they may change and grow."""
    model_in_use = model.model_in_use
    serve_tools(start, model, gate)
    return lambda: (
        *model_in_use.served_tools(),
        *tools.deferred_tools.definitions(),
        *model_in_use.advisor_tools(),
    )


def queue_taker(
    queue: list[Prompt], expander: PromptExpander
) -> Callable[[], Awaitable[list[Message | Notice]]]:
    """Return a function that takes the queued prompts that may join a running turn; a command and
    the prompts after it wait for the end of the turn."""

    async def take() -> list[Message | Notice]:
        messages: list[Message | Notice] = []
        while queue:
            prompt = queue[0]
            messages_before = await expander.expand_queued(prompt)
            if messages_before is None or prompt not in queue:
                break
            queue.remove(prompt)
            messages.extend((*messages_before, prompt.to_message()))
        return messages

    return take
