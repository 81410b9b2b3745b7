"""PermissionRequest hooks as one contender of the permission race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from hooks.answers.outcome import EventOutcome
from hooks.answers.permission_updates import grant_of, suggestions_json
from hooks.events.tool import PermissionRequestEvent
from hooks.runner import HookRunner
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
)
from permissions.request import PermissionRequest

LIFTABLE: Final = frozenset({Reason.MODE_DEFAULT, Reason.ASK_RULE})
"""Reasons of an ask that a hook may turn into allow; any other needs a user."""


class HookContender:
    """Asks PermissionRequest hooks; answers if one of them decided and no user is required."""

    name = "hook"

    def __init__(
        self,
        runner: HookRunner,
        *,
        on_outcome: OutcomeListener | None = None,
        suggest: Suggest | None = None,
        cwd: Callable[[], Path] | None = None,
    ) -> None:
        """Ask the hooks of `runner`.

        Args:
            on_outcome: Receives every event that reached a hook, for the transcript.
            suggest: Returns the grants that the dialog would offer; hooks receive them.
            cwd: The shell's directory now; None: the session's.
        """
        self._runner = runner
        self._on_outcome = on_outcome
        self._suggest = suggest
        self._cwd = cwd

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return what the hooks decided, or None. An allow never replaces an answer that needs a
        user."""
        if not self._runner.has(PermissionRequestEvent.event_name):
            return None
        grants = () if self._suggest is None else self._suggest(request, pending)
        outcome = await self._runner.run(
            PermissionRequestEvent(
                tool_name=request.tool,
                tool_input=dict(request.tool_input),
                permission_suggestions=suggestions_json(grants) or None,
                agent_id=request.agent_id,
                agent_type=request.agent_type,
                cwd=None if self._cwd is None else str(self._cwd()),
            )
        )
        decision = decision_of(outcome, pending)
        if decision is not None and decision.behavior is Behavior.ALLOW:
            decision = replace(decision, grant=grant_of(outcome.permission_updates)[0])
        if self._on_outcome is not None:
            self._on_outcome(outcome)
        return decision


def decision_of(outcome: EventOutcome, pending: Decision) -> Decision | None:
    """Convert a PermissionRequest outcome to a decision, or None for no opinion."""
    if outcome.decision == "deny" or not outcome.continue_:
        reason = outcome.reason or outcome.stop_reason or "no reason given"
        return _to_decision(Behavior.DENY, outcome, pending, reason, None)
    if outcome.decision == "allow" and pending.ask_reasons <= LIFTABLE:
        return _to_decision(Behavior.ALLOW, outcome, pending, "allowed", outcome.updated_input)
    return None


def _to_decision(
    behavior: Behavior,
    outcome: EventOutcome,
    pending: Decision,
    reason: str,
    updated_input: Mapping[str, object] | None,
) -> Decision:
    verdict = outcome.decision if outcome.decision != "none" else "deny"
    deciding = next((r for r in outcome.results if r.answer.verdict == verdict), None)
    entry = TraceEntry(
        step=TraceStep.HOOK,
        answer=behavior.value,
        source=None if deciding is None else deciding.spec.where,
        rule=None if deciding is None else deciding.spec.label,
    )
    return replace(
        pending,
        behavior=behavior,
        source=DecisionSource.HOOK,
        reason_type=ReasonType.HOOK,
        reason=Reason.HOOK,
        message=f"{outcome.decided_by or 'a hook'}: {reason}",
        rule=None,
        trace=(*pending.trace, entry),
        updated_input=updated_input,
        interrupt=outcome.interrupt or not outcome.continue_,
    )


if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from permissions.grants.suggest import Grant
    from permissions.resolve.contender import Contender

    OutcomeListener = Callable[[EventOutcome], None]
    Suggest = Callable[[PermissionRequest, Decision], Sequence[Grant]]

    def _check_protocol(contender: HookContender) -> Contender:
        return contender
