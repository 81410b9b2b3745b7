"""Decide whether a call may run: rules, hooks and the user are asked until a decision is final.

The gate evaluates steps 1 to 3; PreToolUse hooks may rewrite the input, which starts over; a
remaining ask is resolved (pattern page "safety-and-permissions").
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from agent.display import Display
from agent.events import Notice, PermissionRequested, PermissionResolved
from agent.tools.call import Ready, Refused, RunningCall
from agent.tools.call_input import read_input
from agent.tools.decline_text import DECLINED_AND_STOPPED, declined_with
from agent.tools.files.edited_input import change_note
from agent.tools.interruption import failed_sibling, interrupted_text
from hooks.answers.outcome import EventOutcome
from permissions.confinement import Confinement
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.evaluate.cascade import Evaluation
from permissions.evaluate.confirmed_decision import USERS, apply_answer
from permissions.evaluate.hook_step import after_rewrite
from permissions.request import PermissionRequest
from permissions.resolve.race import RaceAborted
from permissions.tool_names import canonical_tool

_LOG: Final = logging.getLogger(__name__)

MAX_REWRITES: Final = 5
"""How often one call's input may be changed and decided again before it is denied."""
MAX_OLD_TEXT_CHARS: Final = 120
"""How much of a field's old text is shown after a hook changed it."""
RETRY: Final = "\n\nA hook says that you may try this call again."


_ANSWERED_BY: Final = USERS | {DecisionSource.HOOK}
"""Sources whose denials fire no PermissionDenied: the user or a hook decided them."""


async def permit(call: RunningCall, ready: Ready) -> Ready:
    """Return the permitted call with its confinement; its input may differ from the model's.

    Raises:
        Refused: it may not run.
    """
    evaluation = _evaluate(call, ready)
    decision = evaluation.decision
    hook = None
    if decision.behavior is not Behavior.DENY:
        hook = await call.ports.hooks.pre_tool_use(call.use, ready.visible_input, call.abort)
    if hook is not None:
        ready, evaluation, decision = await _apply_pre_hook(call, ready, hook)
    if decision.behavior is Behavior.ASK:
        ready, evaluation, decision = await _resolve_ask(call, ready, evaluation, decision)
    if not call.was_asked:
        call.ports.gate.log(decision, _request(call, ready))
        if decision.behavior is Behavior.DENY:
            await _emit_resolved(call, "", decision)
    if decision.behavior is not Behavior.ALLOW:
        await _deny(call, ready.visible_input, decision)
    if decision.feedback:
        call.comment = decision.feedback
    if call.abort.aborted:
        raise Refused("interrupted", interrupted_text(call.abort))
    return replace(
        ready,
        target=evaluation.target,
        confinement=decision.confinement or Confinement.READ_ONLY,
        write_dirs=decision.write_dirs,
    )


async def deny_by_name(call: RunningCall) -> None:
    """Deny a call of a tool that is not offered because a rule denies all its calls.

    Raises:
        Refused: such a rule exists.
    """
    request = PermissionRequest(
        tool=canonical_tool(call.use.name),
        tool_input=call.use.input,
        tool_use_id=call.use.id,
        agent_id=call.events.agent_id,
        agent_type=call.ports.agent_type,
    )
    decision = call.ports.gate.evaluate(request, cwd=call.ports.services.cwd)
    if decision.reason is Reason.DENY_RULE:
        call.ports.gate.log(decision, request)
        await _emit_resolved(call, "", decision)
        await _deny(call, call.use.input, decision)


async def _resolve_ask(
    call: RunningCall, ready: Ready, evaluation: Evaluation, decision: Decision
) -> tuple[Ready, Evaluation, Decision]:
    """Ask until the answer is final: one that changes the input is checked again."""
    for rewrites_left in reversed(range(MAX_REWRITES)):
        decision = await _ask(call, ready, evaluation, decision)
        if decision.behavior is not Behavior.ALLOW or decision.updated_input is None:
            return ready, evaluation, decision
        answer, old_input = decision, ready.visible_input
        ready = await read_input(call, decision.updated_input)
        if answer.source in USERS:
            call.user_change = change_note(old_input, ready.visible_input)
        else:
            await _report_rewrite(call, answer.message, old_input, ready)
        evaluation = _evaluate(call, ready)
        decision = _final_decision(answer, evaluation)
        if decision.behavior is Behavior.ASK:
            continue
        # The log entry about the answer has the old input, this one the input that runs.
        call.ports.gate.log(decision, _request(call, ready))
        if decision.behavior is Behavior.DENY:
            # The source that changed the input allowed it; a rule denies the changed input.
            await _emit_resolved(call, "", decision)
        if rewrites_left:
            return ready, evaluation, decision
    raise Refused("denied", "The input was changed too often; the call was not run.")


def _final_decision(answer: Decision, evaluation: Evaluation) -> Decision:
    """Return the decision after an answer that changed the input, which the new check may only
    tighten."""
    new_decision = evaluation.decision
    if new_decision.behavior is Behavior.ASK and (
        new_decision.is_mode_default_ask or answer.source in USERS
    ):
        # The user saw the input they wrote; the yes of a hook or classifier covers an ask of the
        # mode.
        return apply_answer(replace(answer, updated_input=None, confinement=None), evaluation)
    return new_decision


def _evaluate(call: RunningCall, ready: Ready) -> Evaluation:
    return call.ports.gate.evaluation(_request(call, ready), cwd=call.ports.services.cwd)


def _request(call: RunningCall, ready: Ready, request_id: str = "") -> PermissionRequest:
    return PermissionRequest(
        tool=ready.tool.name,
        tool_input=ready.visible_input,
        request_id=request_id,
        tool_use_id=call.use.id,
        is_trusted_read=not ready.tool.requires_permission or _is_text_alone(call, ready),
        wants_user=ready.tool.requires_user_interaction,
        agent_id=call.events.agent_id,
        agent_type=call.ports.agent_type,
        classifier_context=call.ports.hooks.classifier_context(),
    )


def _is_text_alone(call: RunningCall, ready: Ready) -> bool:
    """Whether the call loads a skill that neither allows nor runs anything by itself."""
    skills, name = call.ports.services.skills, ready.visible_input.get("skill")
    if ready.tool.name != "Skill" or skills is None or not isinstance(name, str):
        return False
    return skills.is_text_alone(name.removeprefix("/"))


async def _apply_pre_hook(
    call: RunningCall, ready: Ready, hook: EventOutcome
) -> tuple[Ready, Evaluation, Decision]:
    call.collect(hook)
    if not hook.continue_:
        raise Refused(
            "denied",
            hook.stop_reason or "A hook stopped the turn.",
            ends_turn=True,
            stop_reason=hook.stop_reason or "a PreToolUse hook stopped the turn",
        )
    old_input = ready.visible_input
    if hook.updated_input is not None and hook.decision not in {"deny", "block"}:
        ready = await read_input(call, hook.updated_input)
    # While the hook ran, rules and files may have changed.
    evaluation = _evaluate(call, ready)
    decision = evaluation.decision
    if ready.visible_input != old_input:
        decision = after_rewrite(decision, hook.rewritten_by)
        await _report_rewrite(call, hook.rewritten_by, old_input, ready)
    decision = call.ports.gate.after_pre_tool_use(
        evaluation, decision, hook.decision, hook.reason or "", hook.decided_by
    )
    return ready, evaluation, decision


async def _report_rewrite(
    call: RunningCall, who: str, old_input: Mapping[str, object], ready: Ready
) -> None:
    """Tell the user which fields of the model's input a hook changed."""
    fields = [key for key in old_input if old_input[key] != ready.visible_input.get(key)]
    was = "; ".join(f"{key} was {_short(str(old_input[key]))}" for key in fields)
    await call.events.emit(
        Notice(
            call.events.turn_id,
            "info",
            f"{who or 'A hook'} changed the input of {ready.tool.name}"
            + (f": {was}" if was else ""),
            agent_id=call.events.agent_id,
        )
    )


def _short(text: str) -> str:
    first = text.strip().partition("\n")[0][:MAX_OLD_TEXT_CHARS]
    return first if first == text.strip() else f"{first} …"


async def _ask(
    call: RunningCall, ready: Ready, evaluation: Evaluation, pending: Decision
) -> Decision:
    call.was_asked = True
    request_id = uuid.uuid4().hex
    preview = await _preview(call, ready)
    if call.ports.previews is not None:
        call.ports.previews[call.use.id] = preview
    await call.events.emit(
        PermissionRequested(
            call.events.turn_id,
            request_id,
            call.use.id,
            ready.tool.name,
            ready.visible_input,
            pending,
            preview,
            agent_id=call.events.agent_id,
        )
    )
    try:
        decision = await call.ports.gate.resolve(
            _request(call, ready, request_id),
            pending,
            call.abort,
            cwd=call.ports.services.cwd,
            evaluation=evaluation,
        )
    except RaceAborted:
        await _emit_resolved(call, request_id, _withdraw_question(call, pending))
        raise Refused("interrupted", interrupted_text(call.abort)) from None
    finally:
        if call.ports.previews is not None:
            call.ports.previews.pop(call.use.id, None)
    await _emit_resolved(call, request_id, decision)
    return decision


async def _preview(call: RunningCall, ready: Ready) -> Display | None:
    try:
        return await ready.tool.preview(ready.parsed_input, call.context)
    except Exception:  # noqa: BLE001 - a preview is optional: the dialog still shows the input itself
        _LOG.info("no preview of %s", call.use.name, exc_info=True)
        return None


async def _emit_resolved(call: RunningCall, request_id: str, decision: Decision) -> None:
    await call.events.emit(
        PermissionResolved(
            call.events.turn_id,
            request_id,
            call.use.id,
            decision,
            agent_id=call.events.agent_id,
        )
    )


async def _deny(call: RunningCall, visible_input: Mapping[str, object], decision: Decision) -> None:
    if call.abort.aborted:
        raise Refused("interrupted", interrupted_text(call.abort))
    may_retry = ""
    if decision.source not in _ANSWERED_BY:
        hook = await call.ports.hooks.permission_denied(call.use, visible_input, decision.message)
        if hook is not None:
            call.collect(hook)
            by_classifier = decision.source is DecisionSource.CLASSIFIER
            may_retry = RETRY if hook.retry and by_classifier else ""
    if decision.source is DecisionSource.USER:
        if decision.interrupt or not decision.feedback:
            raise Refused(
                "denied",
                DECLINED_AND_STOPPED,
                ends_turn=True,
            )
        raise Refused("denied", declined_with(decision.feedback))
    raise Refused(
        "denied",
        f"Permission denied: {decision.message}{may_retry}",
        ends_turn=decision.interrupt,
        stop_reason=decision.message if decision.interrupt else "",
    )


def _withdraw_question(call: RunningCall, pending: Decision) -> Decision:
    """Return the denial for a question that an abort withdrew before anybody answered."""
    if (sibling := failed_sibling(call.abort)) is not None:
        return replace(pending, behavior=Behavior.DENY, message=f"{sibling}.")
    return replace(
        pending,
        behavior=Behavior.DENY,
        source=DecisionSource.USER,
        reason_type=ReasonType.USER,
        reason=Reason.USER,
        rule=None,
        message="Interrupted.",
    )
