"""One tool call from the model's request to its result, step by step.

Schema validation, semantic validation, permission steps 1 to 3, PreToolUse hooks (a rewrite goes
back to the start), a remaining ask, the run, PostToolUse hooks, the bounded result. Every
failure is a `tool_result` with `is_error`, never an exception. Source: the pattern "tool-system".
Next: `agent.tools.call_input`, `agent.tools.call_permission`, `agent.tools.dispatch`.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from msgspec.structs import replace

from agent.abort import AbortController, Aborted, AbortSignal
from agent.display import Display, TextDisplay
from agent.events import ToolDispatch, ToolResult
from agent.messages import Block, ToolUse, text_block, tool_result_block
from agent.stream import TurnEvents
from agent.tools.base import InterruptBehavior, ToolError, ToolOutcome
from agent.tools.call import (
    CallOutcome,
    CallPorts,
    Outcome,
    Ready,
    Refused,
    RunningCall,
)
from agent.tools.call_input import read_input
from agent.tools.call_permission import deny_by_name, permit
from agent.tools.interruption import interrupted_text
from agent.tools.large_results import bound_result
from agent.tools.replaced_output import replaced_content
from agent.tools.shell.refused_note import refusal_line
from hooks.answers.outcome import EventOutcome
from permissions.base.text.sanitize import reveal, sanitize
from permissions.tool_names import is_mcp_name


async def run_call(
    use: ToolUse, ports: CallPorts, events: TurnEvents, abort: AbortSignal
) -> CallOutcome:
    """Run one call through its whole lifecycle. Raises nothing but task cancellation."""
    call = RunningCall.begin(use, ports, events, abort)
    try:
        outcome = await _lifecycle(call)
    finally:
        await call.live.aclose()
    if not call.is_repeated:
        ports.failures.note(use, outcome.outcome)
    if call.has_started and ports.recorder is not None:
        await ports.recorder.tool_ended(
            use,
            outcome.block,
            outcome.outcome,
            call.elapsed_s,
            call.identifier,
            events.agent_id,
            call.display,
        )
    return outcome


async def _lifecycle(call: RunningCall) -> CallOutcome:
    try:
        ready = await read_input(call, call.use.input)
    except Refused as refusal:
        await _emit_dispatch(call, call.use.name)
        try:
            if call.ports.registry.get(call.use.name) is None:
                await deny_by_name(call)
            await _refuse_repeated(call)
        except Refused as why:
            return await _to_outcome(call, why, 0.0)
        return await _to_outcome(call, refusal, 0.0)
    await _emit_dispatch(call, ready.tool.name)
    call.visible_input = ready.visible_input
    try:
        await _refuse_repeated(call)
        ready = await permit(call, ready)
    except Refused as refusal:
        return await _to_outcome(call, refusal, 0.0)
    call.visible_input = ready.visible_input
    start_s = time.monotonic()
    try:
        outcome = await _execute(call, ready)
    except Refused as refusal:
        elapsed_s = time.monotonic() - start_s
        await _after_failure(call, ready, refusal, elapsed_s)
        return await _to_outcome(call, refusal, elapsed_s)
    return await _finish(call, ready, outcome, time.monotonic() - start_s)


async def _refuse_repeated(call: RunningCall) -> None:
    """Raise Refused for a call that keeps failing, unless the user wants it run again."""
    ports = call.ports
    identifier = call.identifier or reveal(call.use.name)[:100]
    text = await ports.failures.refusal(call.use, identifier, ports.services.user, call.abort)
    if text is not None:
        call.is_repeated = True
        raise Refused("failed", text, fact="Not run: the same call has failed before.")


async def _execute(call: RunningCall, ready: Ready) -> ToolOutcome:
    tool = ready.tool
    if call.ports.recorder is not None:
        call.has_started = True
        await call.ports.recorder.tool_started(call.use, ready.visible_input, call.events.agent_id)
    try:
        async with _file_watch(call, ready):
            context = replace(
                call.context,
                target=ready.target,
                confinement=ready.confinement,
                write_dirs=ready.write_dirs,
            )
            run = tool.run(ready.parsed_input, context)
            is_cancelled = tool.interrupt_behavior is InterruptBehavior.CANCEL
            outcome = await (call.abort.race(run) if is_cancelled else run)
    except Aborted as error:
        raise Refused("interrupted", interrupted_text(call.abort)) from error
    except ToolError as error:
        outcome_kind: Outcome = "interrupted" if call.abort.aborted else "failed"
        raise Refused(outcome_kind, str(error), fact=error.fact) from error
    except Exception as error:
        call.aborts_siblings = True
        raise Refused(
            "failed", f"{tool.name} failed unexpectedly: {type(error).__name__}: {error}"
        ) from error
    return outcome


@asynccontextmanager
async def _file_watch(call: RunningCall, ready: Ready) -> AsyncIterator[None]:
    """Store checkpoints of the files that a command changes, if it may change any."""
    checkpoints = call.ports.services.checkpoints
    if (
        checkpoints is None
        or ready.tool.name != "Bash"
        or ready.tool.is_read_only(ready.parsed_input)
    ):
        yield
        return
    await checkpoints.before_command(call.use.id)
    try:
        yield
    finally:
        await checkpoints.after_command(call.use.id)


async def _after_failure(
    call: RunningCall,
    ready: Ready,
    failure: Refused,
    elapsed_s: float,
    *,
    hook_text: str | None = None,
) -> None:
    hook = await call.ports.hooks.post_tool_use_failure(
        call.use,
        ready.visible_input,
        failure.text if hook_text is None else hook_text,
        is_interrupt=failure.outcome == "interrupted",
        duration_ms=int(elapsed_s * 1000),
        abort=AbortController().signal if failure.outcome == "interrupted" else call.abort,
    )
    if hook is None:
        return
    call.collect_after_run(hook, "PostToolUseFailure")
    if hook.decision == "block" and hook.reason:
        failure.text += f"\n\n{hook.reason}"


async def _finish(
    call: RunningCall, ready: Ready, outcome: ToolOutcome, elapsed_s: float
) -> CallOutcome:
    if outcome.is_error:
        outcome = await _after_error(call, ready, outcome, elapsed_s)
    else:
        outcome = await _after_success(call, ready, outcome, elapsed_s)
        if call.ports.services.checkpoints is not None:
            # Hooks may have formatted the file.
            await call.ports.services.checkpoints.after_change(call.use.id)
    outcome = await bound_result(outcome, ready.tool, call.context)
    content = _sanitize(outcome.content)
    if call.user_change:
        content = _append_note(content, call.user_change)
    if call.comment:
        content = _append_note(content, f"The user approved this call and said: {call.comment}")
    kind: Outcome = "ok"
    if outcome.is_error:
        kind = "interrupted" if call.abort.aborted else "failed"
    text = _as_text(content)
    call.ends_turn = call.ends_turn or outcome.ends_turn
    await _result(
        call,
        kind,
        text,
        elapsed_s,
        display=outcome.display,
        name=ready.tool.name,
        refusal_text="; ".join(map(refusal_line, outcome.refusals)),
        response=_response_of(outcome, ready.tool.name),
    )
    block = tool_result_block(call.use.id, content, is_error=outcome.is_error)
    return _call_outcome(call, block, kind, text, ready.tool.name)


async def _after_error(
    call: RunningCall, ready: Ready, outcome: ToolOutcome, elapsed_s: float
) -> ToolOutcome:
    """Fire PostToolUseFailure and return the result, with additions by its hooks."""
    text = _as_text(outcome.content)
    failure = Refused("failed", text)
    await _after_failure(
        call, ready, failure, elapsed_s, hook_text=_hook_failure_text(outcome, text)
    )
    return outcome if failure.text == text else replace(outcome, content=failure.text)


async def _after_success(
    call: RunningCall, ready: Ready, outcome: ToolOutcome, elapsed_s: float
) -> ToolOutcome:
    """Fire PostToolUse and return the result, as changed by its hooks."""
    tool_response = outcome.tool_response
    if call.user_change and tool_response is not None and "userModified" in tool_response:
        outcome = replace(outcome, tool_response={**tool_response, "userModified": True})
    response = _response_of(outcome, ready.tool.name)
    hook = await call.ports.hooks.post_tool_use(
        call.use, ready.visible_input, response, int(elapsed_s * 1000), call.abort
    )
    return outcome if hook is None else _apply_post_hook(call, outcome, hook)


def _call_outcome(
    call: RunningCall, block: Block, outcome: Outcome, text: str, tool_name: str
) -> CallOutcome:
    return CallOutcome(
        tool_use_id=call.use.id,
        block=block,
        outcome=outcome,
        tool_name=tool_name,
        ends_turn=call.ends_turn,
        stop_reason=call.stop_reason,
        additional_context=tuple(call.additional_context),
        identifier=call.identifier,
        aborts_siblings=call.aborts_siblings,
        response=text,
        visible_input=call.visible_input,
    )


def _hook_failure_text(outcome: ToolOutcome, text: str) -> str:
    """Return a failure as text for hooks: for a command, `Exit code N` comes first."""
    code = (outcome.tool_response or {}).get("exitCode")
    if code is None:
        return text
    status = re.compile(rf"Exit code {code}(?: \(.*\))?\.")
    lines = [line for line in text.splitlines() if not status.fullmatch(line)]
    return "\n".join([f"Exit code {code}", *lines])


def _apply_post_hook(call: RunningCall, outcome: ToolOutcome, hook: EventOutcome) -> ToolOutcome:
    call.collect_after_run(hook, "PostToolUse")
    if hook.updated_tool_output is not None:
        output = hook.updated_tool_output
        response = output if isinstance(output, Mapping) else None
        content = replaced_content(output)
        outcome = replace(outcome, content=content, display=None, tool_response=response)
    if hook.decision == "block" and hook.reason:
        outcome = replace(outcome, content=_append_note(outcome.content, hook.reason))
    return outcome


async def _emit_dispatch(call: RunningCall, name: str) -> None:
    await call.events.emit(
        ToolDispatch(
            call.events.turn_id,
            call.use.id,
            name,
            call.use.input,
            call.identifier,
            agent_id=call.events.agent_id,
            has_tool=call.ports.registry.get(name) is not None,
        )
    )


async def _to_outcome(call: RunningCall, refusal: Refused, elapsed_s: float) -> CallOutcome:
    text = sanitize(refusal.text)
    fact = sanitize(refusal.fact)
    display = TextDisplay(fact) if fact and fact != text else None
    await _result(call, refusal.outcome, text, elapsed_s, display=display)
    if refusal.ends_turn:
        call.ends_turn, call.stop_reason = True, refusal.stop_reason
    block = tool_result_block(call.use.id, text, is_error=True)
    return _call_outcome(call, block, refusal.outcome, text, call.use.name)


async def _result(
    call: RunningCall,
    outcome: Outcome,
    text: str,
    elapsed_s: float,
    *,
    display: Display | None = None,
    name: str | None = None,
    refusal_text: str = "",
    response: object = None,
) -> None:
    call.display, call.elapsed_s = display, elapsed_s
    await call.live.flush()
    await call.events.emit(
        ToolResult(
            call.events.turn_id,
            call.use.id,
            name or call.use.name,
            text,
            outcome != "ok",
            elapsed_s,
            outcome,
            identifier=call.identifier,
            display=display,
            refusal_text=refusal_text,
            agent_id=call.events.agent_id,
            response=response,
        )
    )


def _response_of(outcome: ToolOutcome, tool_name: str) -> object:
    """Return a result in its tool's shape: without one, an MCP server's content blocks, or text."""
    content = outcome.content
    if outcome.tool_response is not None:
        return outcome.tool_response
    if not is_mcp_name(tool_name):
        return _as_text(content)
    return [text_block(content)] if isinstance(content, str) else list(content)


def _as_text(content: str | tuple[Block, ...]) -> str:
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content:
        if block.get("type") == "text":
            parts.append(str(block.get("text", "")))
        else:
            parts.append(f"[{block.get('type', 'block')}]")
    return "\n".join(parts)


def _sanitize(content: str | tuple[Block, ...]) -> str | tuple[Block, ...]:
    if isinstance(content, str):
        return sanitize(content)
    return tuple(
        {**block, "text": sanitize(str(block["text"]))} if block.get("type") == "text" else block
        for block in content
    )


def _append_note(content: str | tuple[Block, ...], note: str) -> str | tuple[Block, ...]:
    if isinstance(content, str):
        return f"{content}\n\n{note}" if content else note
    return (*content, {"type": "text", "text": note})
