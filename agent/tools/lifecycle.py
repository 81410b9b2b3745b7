"""One tool call from the model's words to its result, step by step.

Schema validation, semantic validation, permission steps 1 to 3, PreToolUse hooks (a rewrite goes
back to the start), what is left of the ask, the run, PostToolUse hooks, the bounded result. Every
failure
is a `tool_result` with `is_error`, never an exception. Source: the patterns "tool-system" and
"safety-and-permissions". Next: `agent.tools.dispatch`.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel, ValidationError

from agent.abort import AbortController, Aborted, AbortSignal
from agent.display import Display
from agent.events import PermissionRequested, PermissionResolved, ToolDispatch, ToolResult
from agent.messages import Block, ToolUse, tool_result_block
from agent.sanitize import sanitize
from agent.tools.base import InterruptBehavior, Tool, ToolContext, ToolError, ToolOutcome
from agent.tools.emitter import Emitter, SideEvents
from agent.tools.offload import bound_result
from agent.tools.registry import ToolRegistry
from agent.tools.services import ToolServices
from hooks.outcome import EventOutcome
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.gate import PermissionGate
from permissions.race import RaceAborted
from permissions.request import PermissionRequest

Outcome = Literal["ok", "failed", "denied", "interrupted", "invalid"]

SIBLING_FAILED: Final = "a call in the same batch failed"
"""Reason with which a batch's abort fires when one of its calls failed."""

MAX_REWRITES = 5
"""How often one call's input may be changed and decided again before it is denied."""


class CallHooks(Protocol):
    """The hook events around one call; `agent.hook_dispatch` implements it."""

    async def pre_tool_use(
        self, call: ToolUse, tool_input: Mapping[str, Any], abort: AbortSignal
    ) -> EventOutcome | None:
        """Return the merged outcome, or None when no handler matches."""
        ...

    async def post_tool_use(
        self,
        call: ToolUse,
        tool_input: Mapping[str, Any],
        response: Any,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """As above, after a success."""
        ...

    async def post_tool_use_failure(
        self,
        call: ToolUse,
        tool_input: Mapping[str, Any],
        error: str,
        *,
        is_interrupt: bool,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """As above, after a run that failed."""
        ...

    async def permission_denied(
        self, call: ToolUse, tool_input: Mapping[str, Any], reason: str
    ) -> EventOutcome | None:
        """As above, after the classifier denied a call."""
        ...


class CallRecorder(Protocol):
    """Told right before a tool runs and right after, so that a crash never runs anything twice."""

    async def tool_started(
        self, call: ToolUse, tool_input: Mapping[str, Any], agent_id: str | None
    ) -> None:
        """Record durably that the call is about to run."""
        ...

    async def tool_ended(
        self,
        call: ToolUse,
        block: Block,
        outcome: str,
        elapsed_s: float,
        identifier: str,
        agent_id: str | None,
    ) -> None:
        """Record durably what the model will be told."""
        ...


@dataclass(frozen=True, slots=True)
class CallPorts:
    """What the lifecycle of a call needs from the conversation."""

    registry: ToolRegistry
    gate: PermissionGate
    hooks: CallHooks
    services: ToolServices
    recorder: CallRecorder | None = None
    side: SideEvents | None = None
    """Where sub-agents put their events while a call of theirs runs."""
    previews: dict[str, Display | None] | None = None
    """Filled by tool_use_id before the person is asked; the dialog reads it."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How one call ended."""

    tool_use_id: str
    block: Block
    """The `tool_result` for the model."""
    outcome: Outcome
    tool_name: str
    ends_turn: bool = False
    """The person said no without a comment, or a hook stopped the turn."""
    stop_reason: str = ""
    """Why, when a hook stopped the turn; empty for the person's no."""
    additional_context: tuple[str, ...] = ()
    """What hooks add for the model, after the results."""
    aborts_siblings: bool = False
    """The run failed in a way that makes its concurrent neighbours pointless."""
    response: Any = None
    """The serialised result for PostToolBatch hooks."""


async def run_call(
    call: ToolUse, ports: CallPorts, emitter: Emitter, abort: AbortSignal
) -> CallOutcome:
    """Take one call through its whole lifecycle. Never raises, except for task cancellation."""
    return await _Call(call, ports, emitter, abort).run()


class _Refused(Exception):
    """Ends a call before its run."""

    def __init__(
        self, outcome: Outcome, text: str, *, ends_turn: bool = False, stop_reason: str = ""
    ) -> None:
        self.outcome: Outcome = outcome
        self.text = text
        self.ends_turn = ends_turn
        self.stop_reason = stop_reason
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class _Ready:
    tool: Tool[Any]
    parsed: BaseModel
    raw: Mapping[str, Any]
    seen: Mapping[str, Any]
    """What rules, hooks and people see."""


class _Call:
    def __init__(
        self, call: ToolUse, ports: CallPorts, emitter: Emitter, abort: AbortSignal
    ) -> None:
        self.call = call
        self.ports = ports
        self.emitter = emitter
        self.abort = abort
        self.context = ToolContext(
            tool_use_id=call.id,
            turn_id=emitter.turn_id,
            agent_id=emitter.agent_id,
            abort=abort,
            progress=lambda text: emitter.progress(call.id, text),
            services=ports.services,
        )
        self.identifier = call.name
        self.additional_context: list[str] = []
        self.comment = ""
        self.asked = False
        self.has_started = False
        self.aborts_siblings = False

    async def run(self) -> CallOutcome:
        started = time.monotonic()
        outcome = await self._lifecycle()
        if self.has_started and self.ports.recorder is not None:
            await self.ports.recorder.tool_ended(
                self.call,
                outcome.block,
                outcome.outcome,
                time.monotonic() - started,
                self.identifier,
                self.emitter.agent_id,
            )
        return outcome

    async def _lifecycle(self) -> CallOutcome:
        try:
            ready = await self._validate(self.call.input)
        except _Refused as refused:
            self._dispatched(self.call.name)
            return self._ended(refused, 0.0)
        self._dispatched(ready.tool.name)
        try:
            ready = await self._permit(ready)
        except _Refused as refused:
            return self._ended(refused, 0.0)
        started = time.monotonic()
        try:
            outcome = await self._execute(ready)
        except _Refused as refused:
            elapsed_s = time.monotonic() - started
            await self._after_failure(ready, refused, elapsed_s)
            return self._ended(refused, elapsed_s)
        return await self._finish(ready, outcome, time.monotonic() - started)

    # -- validation -------------------------------------------------------------------------

    async def _validate(self, raw: Mapping[str, Any]) -> _Ready:
        tool = self.ports.registry.get(self.call.name)
        if tool is None:
            names = ", ".join(sorted(t.name for t in self.ports.registry.all()))
            raise _Refused(
                "invalid", f"There is no tool named {self.call.name!r}. Available tools: {names}."
            )
        if self.call.invalid_json is not None:
            sample = self.call.invalid_json[:200]
            raise _Refused(
                "invalid",
                f"InputValidationError: the input of {tool.name} is not a JSON object "
                f"(it starts with {sample!r}). Send the call again with valid JSON.",
            )
        try:
            parsed = tool.parse(raw)
        except ValidationError as error:
            raise _Refused("invalid", _schema_error(tool.name, error)) from error
        self.identifier = self._identify(tool, parsed)
        if tool.requires_user_interaction and self.ports.services.person is None:
            raise _Refused(
                "invalid",
                f"{tool.name} needs a person to answer, and nobody is there to ask in this run. "
                "Decide yourself and say which assumption you made.",
            )
        problem = await self._guard(tool.validate(parsed, self.context), tool.name)
        if problem is not None:
            raise _Refused("invalid", problem)
        seen = tool.permission_input(parsed, raw, self.context)
        return _Ready(tool, parsed, raw, seen)

    def _identify(self, tool: Tool[Any], parsed: BaseModel) -> str:
        try:
            line = tool.identifier(parsed, self.ports.services.launch_dir)
        except (ValueError, OSError, AttributeError):
            line = tool.name
        return sanitize(line).replace("\n", "⏎")[:500]

    async def _guard(self, validation: Any, name: str) -> str | None:
        try:
            result = await validation
        except ToolError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - isolation boundary: a broken check refuses the call
            return f"{name} could not check its input: {type(error).__name__}: {error}"
        assert result is None or isinstance(result, str)
        return result

    # -- permission -------------------------------------------------------------------------

    async def _permit(self, ready: _Ready) -> _Ready:
        decision = self._evaluate(ready)
        hook = None
        if decision.behavior is not Behavior.DENY:
            hook = await self.ports.hooks.pre_tool_use(self.call, ready.seen, self.abort)
        if hook is not None:
            ready, decision = await self._apply_pre_hook(ready, decision, hook)
        for _ in range(MAX_REWRITES):
            if decision.behavior is Behavior.ASK:
                decision = await self._ask(ready, decision)
                if decision.behavior is Behavior.ALLOW and decision.updated_input is not None:
                    answered = decision
                    ready = await self._validate(decision.updated_input)
                    decision = self._stands(answered, self._evaluate(ready))
                    continue
            break
        else:
            raise _Refused("denied", "The input was changed too often; the call was not run.")
        if not self.asked:
            self.ports.gate.log(decision, self._request(ready))
            if decision.behavior is Behavior.DENY:
                self._resolved("", decision)
        if decision.behavior is not Behavior.ALLOW:
            await self._denied(ready, decision)
        if decision.feedback:
            self.comment = decision.feedback
        self._check_abort()
        return ready

    def _stands(self, answered: Decision, again: Decision) -> Decision:
        """Return what holds after an answer that changed the input: never softer than the new
        check."""
        if again.behavior is Behavior.ASK and (
            again.reason is Reason.MODE_DEFAULT or answered.source is DecisionSource.USER
        ):
            # The person saw the input they wrote; a hook's or classifier's yes covers the mode's
            # ask.
            return replace(answered, updated_input=None)
        return again

    def _evaluate(self, ready: _Ready) -> Decision:
        return self.ports.gate.evaluate(self._request(ready), cwd=self.ports.services.cwd)

    def _request(self, ready: _Ready, request_id: str = "") -> PermissionRequest:
        return PermissionRequest(
            tool=ready.tool.name,
            tool_input=ready.seen,
            request_id=request_id,
            tool_use_id=self.call.id,
            agent_id=self.emitter.agent_id,
        )

    async def _apply_pre_hook(
        self, ready: _Ready, decision: Decision, hook: EventOutcome
    ) -> tuple[_Ready, Decision]:
        self._collect(hook)
        if not hook.continue_:
            raise _Refused(
                "denied",
                hook.stop_reason or "A hook stopped the turn.",
                ends_turn=True,
                stop_reason=hook.stop_reason or "a PreToolUse hook stopped the turn",
            )
        if hook.updated_input is not None and hook.decision not in {"deny", "block"}:
            ready = await self._validate(hook.updated_input)
            decision = self._evaluate(ready)
        return ready, self.ports.gate.after_pre_tool_use(
            decision, hook.decision, hook.reason or "", hook.reason_source or ""
        )

    async def _ask(self, ready: _Ready, pending: Decision) -> Decision:
        self.asked = True
        request_id = uuid.uuid4().hex
        preview = await self._preview(ready)
        if self.ports.previews is not None:
            self.ports.previews[self.call.id] = preview
        self.emitter.emit(
            PermissionRequested(
                self.emitter.turn_id,
                request_id,
                self.call.id,
                ready.tool.name,
                ready.seen,
                pending,
                preview,
                agent_id=self.emitter.agent_id,
            )
        )
        try:
            decision = await self.ports.gate.resolve(
                self._request(ready, request_id),
                pending,
                self.abort,
                cwd=self.ports.services.cwd,
            )
        except RaceAborted:
            self._resolved(request_id, self._unanswered(pending))
            raise _Refused("interrupted", _interrupted_text(self.abort)) from None
        finally:
            if self.ports.previews is not None:
                self.ports.previews.pop(self.call.id, None)
        self._resolved(request_id, decision)
        return decision

    async def _preview(self, ready: _Ready) -> Display | None:
        try:
            return await ready.tool.preview(ready.parsed, self.context)
        except Exception:  # noqa: BLE001 - a preview is a courtesy: the dialog still shows the input itself
            return None

    def _resolved(self, request_id: str, decision: Decision) -> None:
        self.emitter.emit(
            PermissionResolved(
                self.emitter.turn_id,
                request_id,
                self.call.id,
                decision,
                agent_id=self.emitter.agent_id,
            )
        )

    async def _denied(self, ready: _Ready, decision: Decision) -> None:
        if self.abort.aborted:
            raise _Refused("interrupted", _interrupted_text(self.abort))
        if decision.source is DecisionSource.CLASSIFIER:
            hook = await self.ports.hooks.permission_denied(self.call, ready.seen, decision.message)
            if hook is not None:
                self._collect(hook)
        if decision.source is DecisionSource.USER:
            if decision.interrupt or not decision.feedback:
                raise _Refused(
                    "denied",
                    "The person declined this call and stopped the turn. "
                    "Wait for them to say what to do instead.",
                    ends_turn=True,
                )
            raise _Refused(
                "denied",
                "The person declined this call. It did not run. They said:\n" + decision.feedback,
            )
        raise _Refused(
            "denied",
            f"Permission denied: {decision.message}",
            ends_turn=decision.interrupt,
            stop_reason=decision.message if decision.interrupt else "",
        )

    # -- run --------------------------------------------------------------------------------

    async def _execute(self, ready: _Ready) -> ToolOutcome:
        tool = ready.tool
        if self.ports.recorder is not None:
            self.has_started = True
            await self.ports.recorder.tool_started(self.call, ready.seen, self.emitter.agent_id)
        checkpoints = self.ports.services.checkpoints
        is_command = tool.name == "Bash" and checkpoints is not None
        watch = checkpoints if is_command and not tool.is_read_only(ready.parsed) else None
        if watch is not None:
            await watch.before_command(self.call.id)
        try:
            if tool.interrupt_behavior is InterruptBehavior.CANCEL:
                outcome = await self.abort.race(tool.run(ready.parsed, self.context))
            else:
                outcome = await tool.run(ready.parsed, self.context)
        except Aborted as error:
            raise _Refused("interrupted", _interrupted_text(self.abort)) from error
        except ToolError as error:
            outcome_kind: Outcome = "interrupted" if self.abort.aborted else "failed"
            raise _Refused(outcome_kind, str(error)) from error
        except Exception as error:
            self.aborts_siblings = True
            raise _Refused(
                "failed", f"{tool.name} failed unexpectedly: {type(error).__name__}: {error}"
            ) from error
        finally:
            if watch is not None:
                await watch.after_command(self.call.id)
        if outcome.is_error and tool.name == "Bash":
            self.aborts_siblings = True
        return outcome

    async def _after_failure(self, ready: _Ready, refused: _Refused, elapsed_s: float) -> None:
        hook = await self.ports.hooks.post_tool_use_failure(
            self.call,
            ready.seen,
            refused.text,
            is_interrupt=refused.outcome == "interrupted",
            duration_ms=int(elapsed_s * 1000),
            abort=AbortController().signal if refused.outcome == "interrupted" else self.abort,
        )
        if hook is None:
            return
        self._collect(hook)
        if hook.decision == "block" and hook.reason:
            refused.text += f"\n\n{hook.reason}"
        if not hook.continue_:
            refused.ends_turn = True
            refused.stop_reason = hook.stop_reason or "a PostToolUseFailure hook stopped the turn"

    async def _finish(self, ready: _Ready, outcome: ToolOutcome, elapsed_s: float) -> CallOutcome:
        text = _as_text(outcome.content)
        ends_turn, stop_reason = False, ""
        if outcome.is_error:
            refused = _Refused("failed", text)
            await self._after_failure(ready, refused, elapsed_s)
            if refused.text != text:
                outcome = replace(outcome, content=refused.text)
            ends_turn, stop_reason = refused.ends_turn, refused.stop_reason
        else:
            response = outcome.structured if outcome.structured is not None else text
            hook = await self.ports.hooks.post_tool_use(
                self.call, ready.seen, response, int(elapsed_s * 1000), self.abort
            )
            if hook is not None:
                outcome = self._apply_post_hook(outcome, hook)
                if not hook.continue_:
                    ends_turn = True
                    stop_reason = hook.stop_reason or "a PostToolUse hook stopped the turn"
        outcome = await bound_result(outcome, ready.tool, self.context)
        content = _sanitized(outcome.content)
        if self.comment:
            content = _appended(content, f"The person approved this call and said: {self.comment}")
        kind: Outcome = "ok"
        if outcome.is_error:
            kind = "interrupted" if self.abort.aborted else "failed"
        text = _as_text(content)
        self._result(
            kind,
            text,
            elapsed_s,
            display=outcome.display,
            structured=outcome.structured,
            name=ready.tool.name,
        )
        return CallOutcome(
            tool_use_id=self.call.id,
            block=tool_result_block(self.call.id, content, is_error=outcome.is_error),
            outcome=kind,
            tool_name=ready.tool.name,
            ends_turn=ends_turn,
            stop_reason=stop_reason,
            additional_context=tuple(self.additional_context),
            aborts_siblings=self.aborts_siblings,
            response=text,
        )

    def _apply_post_hook(self, outcome: ToolOutcome, hook: EventOutcome) -> ToolOutcome:
        self._collect(hook)
        if hook.updated_tool_output is not None:
            replaced = hook.updated_tool_output
            body = (
                replaced if isinstance(replaced, str) else json.dumps(replaced, ensure_ascii=False)
            )
            outcome = replace(outcome, content=body, display=None)
        if hook.decision == "block" and hook.reason:
            outcome = replace(outcome, content=_appended(outcome.content, hook.reason))
        return outcome

    def _unanswered(self, pending: Decision) -> Decision:
        """Return the end of a question that an abort withdrew: nobody denied it but who aborted."""
        if self.abort.reason == SIBLING_FAILED:
            return replace(pending, behavior=Behavior.DENY, message=f"{SIBLING_FAILED}.")
        return replace(
            pending,
            behavior=Behavior.DENY,
            source=DecisionSource.USER,
            reason_type=ReasonType.USER,
            reason=Reason.USER,
            rule=None,
            message="Interrupted.",
        )

    # -- endings ----------------------------------------------------------------------------

    def _collect(self, hook: EventOutcome) -> None:
        if hook.additional_context:
            self.additional_context.append(hook.additional_context)

    def _check_abort(self) -> None:
        if self.abort.aborted:
            raise _Refused("interrupted", _interrupted_text(self.abort))

    def _dispatched(self, name: str) -> None:
        self.emitter.emit(
            ToolDispatch(
                self.emitter.turn_id,
                self.call.id,
                name,
                self.call.input,
                self.identifier,
                agent_id=self.emitter.agent_id,
            )
        )

    def _ended(self, refused: _Refused, elapsed_s: float) -> CallOutcome:
        text = sanitize(refused.text)
        self._result(refused.outcome, text, elapsed_s)
        return CallOutcome(
            tool_use_id=self.call.id,
            block=tool_result_block(self.call.id, text, is_error=True),
            outcome=refused.outcome,
            tool_name=self.call.name,
            ends_turn=refused.ends_turn,
            stop_reason=refused.stop_reason,
            additional_context=tuple(self.additional_context),
            aborts_siblings=self.aborts_siblings,
            response=text,
        )

    def _result(
        self,
        outcome: Outcome,
        text: str,
        elapsed_s: float,
        *,
        display: Display | None = None,
        structured: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.emitter.emit(
            ToolResult(
                self.emitter.turn_id,
                self.call.id,
                name or self.call.name,
                text,
                outcome != "ok",
                elapsed_s,
                outcome,
                identifier=self.identifier,
                display=display,
                structured=structured,
                agent_id=self.emitter.agent_id,
            )
        )


def _interrupted_text(abort: AbortSignal) -> str:
    if abort.reason == SIBLING_FAILED:
        return f"Stopped, because {SIBLING_FAILED}. Call it again if it is still needed."
    return (
        "Interrupted by the person. Whether it had an effect is not known; check before repeating."
    )


def _schema_error(name: str, error: ValidationError) -> str:
    lines = [f"InputValidationError: {name} was called with input that does not fit its schema:"]
    for item in error.errors(include_url=False, include_context=False)[:10]:
        where = ".".join(str(part) for part in item["loc"]) or "(input)"
        lines.append(f"- {where}: {item['msg']}")
    return "\n".join(lines)


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


def _sanitized(content: str | tuple[Block, ...]) -> str | tuple[Block, ...]:
    if isinstance(content, str):
        return sanitize(content)
    return tuple(
        {**block, "text": sanitize(str(block["text"]))} if block.get("type") == "text" else block
        for block in content
    )


def _appended(content: str | tuple[Block, ...], note: str) -> str | tuple[Block, ...]:
    if isinstance(content, str):
        return f"{content}\n\n{note}" if content else note
    return (*content, {"type": "text", "text": note})
