"""Decides which contender may resolve which ask, and whether its answer counts.

Decided here, once, by the contender's name and not by what its answer claims about itself: the
classifiers answer only asks for which nothing matched, PermissionRequest hooks also asks from
rules, every other ask only a user (dialog, bridge, channel). Source: the pattern
"safety-and-permissions".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

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
from permissions.resolve.contender import Contender
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.race import Undecided

HOOK: Final = "hook"
CLASSIFIER: Final = "classifier"
MODEL_CLASSIFIER: Final = "model classifier"
DIALOG: Final = "dialog"
BRIDGE: Final = "bridge"
CHANNEL: Final = "channel"

_ORIGINS: Final = {
    HOOK: (DecisionSource.HOOK, ReasonType.HOOK, Reason.HOOK, TraceStep.HOOK),
    CLASSIFIER: (
        DecisionSource.CLASSIFIER,
        ReasonType.CLASSIFIER,
        Reason.CLASSIFIER,
        TraceStep.CLASSIFIER,
    ),
    MODEL_CLASSIFIER: (
        DecisionSource.CLASSIFIER,
        ReasonType.CLASSIFIER,
        Reason.CLASSIFIER,
        TraceStep.CLASSIFIER,
    ),
    DIALOG: (DecisionSource.USER, ReasonType.USER, Reason.USER, TraceStep.USER),
    BRIDGE: (DecisionSource.BRIDGE, ReasonType.BRIDGE, Reason.BRIDGE, TraceStep.BRIDGE),
    CHANNEL: (DecisionSource.CHANNEL, ReasonType.CHANNEL, Reason.CHANNEL, TraceStep.CHANNEL),
}
"""Per contender: the origin of its answers, whatever an answer itself claims."""

_LIFTS: Final = {
    HOOK: frozenset({Reason.MODE_DEFAULT, Reason.ASK_RULE}),
    CLASSIFIER: frozenset({Reason.MODE_DEFAULT}),
    MODEL_CLASSIFIER: frozenset({Reason.MODE_DEFAULT}),
}
"""Per contender that is not a user: the asks that its allow may lift."""

_CONTENDER_STEPS: Final = frozenset(step for *_, step in _ORIGINS.values())


def may_answer(name: str, pending: Decision, denials: DenialState) -> bool:
    """Return whether the contender of that name may answer this ask.

    A hook may answer every ask, because its deny counts even where its allow does not. The model
    classifier is skipped once its limit of denials is reached; the local one never denies.
    """
    if name in {CLASSIFIER, MODEL_CLASSIFIER}:
        is_skipped = name == MODEL_CLASSIFIER and denials.is_exhausted
        return pending.is_mode_default_ask and not is_skipped
    return name in _ORIGINS


def may_lift(name: str, decision: Decision, pending: Decision) -> bool:
    """Return whether an answer counts: only a user may lift an ask that requires one."""
    return (
        decision.behavior is not Behavior.ALLOW
        or name not in _LIFTS
        or pending.ask_reasons <= _LIFTS[name]
    )


class AuthorizedContender:
    """Wraps a contender: its answers get its own origin, and those that may not count are
    dropped."""

    def __init__(self, contender: Contender) -> None:
        """Wrap `contender`."""
        self._contender = contender
        self.name = contender.name

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return the contender's answer, or None where it may not give that answer."""
        decision = await self._contender.decide(request, pending)
        if decision is None or not may_lift(self.name, decision, pending):
            return None
        return with_origin(self.name, decision)


def with_origin(name: str, decision: Decision) -> Decision:
    """Return an answer with the origin of the contender that gave it."""
    source, reason_type, reason, _ = _ORIGINS[name]
    if decision.source is source and decision.reason is reason:
        return decision
    return replace(decision, source=source, reason_type=reason_type, reason=reason)


def eligible_contenders(
    contenders: Iterable[Contender], pending: Decision, denials: DenialState
) -> list[AuthorizedContender]:
    """Return the contenders that may answer this ask, in their order."""
    return [
        AuthorizedContender(one) for one in contenders if may_answer(one.name, pending, denials)
    ]


def with_trace(
    pending: Decision, decision: Decision, winner: str, undecided_contenders: Iterable[Undecided]
) -> Decision:
    """Return an answer with the trace of the ask that it resolves, and of all contenders."""
    own = [
        entry
        for entry in decision.trace
        if entry.step in _CONTENDER_STEPS and entry not in pending.trace
    ]
    if not own:
        own = [TraceEntry(_ORIGINS[winner][3], str(decision.behavior), source=winner)]
    return replace(
        decision,
        rule=decision.rule or pending.rule,
        trace=(*pending.trace, *undecided_entries(undecided_contenders), *own),
        parts=decision.parts or pending.parts,
        warnings=decision.warnings or pending.warnings,
    )


def undecided_entries(undecided_contenders: Iterable[Undecided]) -> tuple[TraceEntry, ...]:
    """Return a trace step for each contender that ended without deciding."""
    return tuple(
        TraceEntry(
            _ORIGINS[one.name][3],
            "none" if one.unsure is None else "ask",
            source=f"{one.name} failed: {one.failure}" if one.failure else _opinion_text(one),
        )
        for one in undecided_contenders
    )


def skipped_entries(
    contenders: Iterable[Contender], pending: Decision, denials: DenialState
) -> tuple[TraceEntry, ...]:
    """Return the trace step of a model classifier that was skipped, if any."""
    return tuple(
        TraceEntry(TraceStep.CLASSIFIER, "none", source=f"{one.name} skipped: {denials.describe()}")
        for one in contenders
        if one.name == MODEL_CLASSIFIER and pending.is_mode_default_ask and denials.is_exhausted
    )


def _opinion_text(contender: Undecided) -> str:
    if contender.unsure is None or not contender.unsure.message:
        return contender.name
    return f"{contender.name} is unsure: {contender.unsure.message}"
