"""Who resolves a remaining ask, by context: interactive, coordinator, worker, or nobody (headless).

Which contender may answer which ask is decided here, once: the classifier answers only asks for
which nothing matched, PermissionRequest hooks also asks from rules, everything else only a person
(dialog, bridge and channel). Source: the pattern page "safety-and-permissions", three handlers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from permissions.contender import Contender
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
)
from permissions.denials import DenialState
from permissions.race import Abort, RaceAborted, race
from permissions.request import PermissionRequest

HOOK = "hook"
CLASSIFIER = "classifier"
PERSON = frozenset({"dialog", "bridge", "channel"})


class Handler(Protocol):
    """Resolves one ask for good: the answer is allow or deny, never ask."""

    async def resolve(
        self,
        request: PermissionRequest,
        pending: Decision,
        abort: Abort,
        denials: DenialState,
    ) -> Decision:
        """Return the final decision. Raises RaceAborted when the agent was interrupted."""
        ...


def may_answer(name: str, pending: Decision, denials: DenialState) -> bool:
    """Whether the contender of that name may resolve this ask."""
    if name in PERSON:
        return True
    if name == HOOK:
        return True
    if name == CLASSIFIER:
        return pending.reason is Reason.MODE_DEFAULT and not denials.is_exhausted
    return False


def counts(decision: Decision, pending: Decision) -> bool:
    """Whether an answer may stand: nobody but a person lifts an ask that is a person's to lift."""
    if decision.behavior is not Behavior.ALLOW:
        return True
    match decision.source:
        case DecisionSource.HOOK:
            return pending.reason in {Reason.MODE_DEFAULT, Reason.ASK_RULE}
        case DecisionSource.CLASSIFIER:
            return pending.reason is Reason.MODE_DEFAULT
        case _:
            return True


class _Limited:
    """A contender whose answers are dropped where they may not stand."""

    def __init__(self, contender: Contender) -> None:
        self._contender = contender

    @property
    def name(self) -> str:
        return self._contender.name

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        decision = await self._contender.decide(request, pending)
        return decision if decision is None or counts(decision, pending) else None


def traced(pending: Decision, decision: Decision, note: str = "") -> Decision:
    """Return the answer with the trace of the ask it resolves and a step of its own."""
    step = _STEPS.get(decision.source, TraceStep.USER)
    answer = str(decision.behavior) + (f" ({note})" if note else "")
    entry = TraceEntry(step, answer, source=str(decision.source))
    return replace(
        decision,
        rule=decision.rule or pending.rule,
        trace=(*pending.trace, entry),
        parts=decision.parts or pending.parts,
        warnings=decision.warnings or pending.warnings,
    )


_STEPS = {
    DecisionSource.HOOK: TraceStep.HOOK,
    DecisionSource.CLASSIFIER: TraceStep.CLASSIFIER,
    DecisionSource.USER: TraceStep.USER,
    DecisionSource.BRIDGE: TraceStep.BRIDGE,
    DecisionSource.CHANNEL: TraceStep.CHANNEL,
}


def denied_for_want_of_a_person(pending: Decision) -> Decision:
    """Return the deny that an unanswered ask becomes; it keeps the origin of the ask."""
    return replace(
        pending,
        behavior=Behavior.DENY,
        message=(
            f"{pending.message.rstrip('.')}. Nobody is there to ask in this run, so it was not "
            "done. Continue without it, or say what is needed."
        ),
    )


class InteractiveHandler:
    """All contenders race; the dialog is the floor that is always there."""

    def __init__(self, contenders: Sequence[Contender]) -> None:
        """Contenders in the order that ties go by: hook, classifier, bridge, channel, dialog."""
        self._contenders = tuple(contenders)

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the winner's answer; deny when nobody had one."""
        able = [_Limited(c) for c in self._contenders if may_answer(c.name, pending, denials)]
        result = await race(able, request, pending, abort)
        if result.decision is None:
            return denied_for_want_of_a_person(pending)
        return traced(pending, result.decision, "; ".join(result.failures))


class CoordinatorHandler:
    """Hooks, then classifier, then dialog, one after the other."""

    def __init__(self, contenders: Sequence[Contender]) -> None:
        """Contenders in the order in which they are asked."""
        self._contenders = tuple(contenders)

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the first decisive answer in order; deny when nobody had one."""
        for contender in self._contenders:
            if not may_answer(contender.name, pending, denials):
                continue
            result = await race([_Limited(contender)], request, pending, abort)
            if result.decision is not None:
                return traced(pending, result.decision, "; ".join(result.failures))
        return denied_for_want_of_a_person(pending)


class Mailbox(Protocol):
    """A worker's line to its leader."""

    def register(self, request_id: str) -> None:
        """Be ready for the answer; called before `send`, or a quick answer would be lost."""
        ...

    async def send(self, request: PermissionRequest, pending: Decision) -> None:
        """Put the request before the leader."""
        ...

    async def answer(self, request_id: str) -> Decision | None:
        """Return the leader's answer, or None when the leader is gone."""
        ...

    def unregister(self, request_id: str) -> None:
        """Forget the request."""
        ...


class WorkerHandler:
    """The classifier decides, else the request goes to the leader (pattern "permission
    forwarding")."""

    def __init__(self, classifier: Contender | None, mailbox: Mailbox) -> None:
        """`classifier` None: everything is forwarded."""
        self._classifier = classifier
        self._mailbox = mailbox

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the classifier's or the leader's answer; a leader that is gone cancels the
        call."""
        if self._classifier is not None and may_answer(CLASSIFIER, pending, denials):
            result = await race([_Limited(self._classifier)], request, pending, abort)
            if result.decision is not None:
                return traced(pending, result.decision)
        self._mailbox.register(request.request_id)
        try:
            await self._mailbox.send(request, pending)
            forwarded = await race([_Leader(self._mailbox)], request, pending, abort)
        finally:
            self._mailbox.unregister(request.request_id)
        if forwarded.decision is None:
            return replace(
                pending,
                behavior=Behavior.DENY,
                message="The leader that should answer is gone; the call was cancelled.",
                interrupt=True,
            )
        return traced(pending, forwarded.decision, "answered by the leader")


class _Leader:
    name = "dialog"

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        return await self._mailbox.answer(request.request_id)


class HeadlessHandler:
    """Nobody to ask: hooks and the classifier are heard, then an ask becomes a deny."""

    def __init__(self, contenders: Sequence[Contender] = ()) -> None:
        """Contenders that need no person, in order."""
        self._contenders = tuple(contenders)

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the first decisive answer, else the deny that says nobody was there to ask."""
        for contender in self._contenders:
            if not may_answer(contender.name, pending, denials):
                continue
            result = await race([_Limited(contender)], request, pending, abort)
            if result.decision is not None:
                return traced(pending, result.decision)
        return denied_for_want_of_a_person(pending)


def user_decision(
    behavior: Behavior,
    *,
    feedback: str | None = None,
    interrupt: bool = False,
    message: str = "",
) -> Decision:
    """Return a person's own answer, as the dialog gives it."""
    default = "Allowed by the person." if behavior is Behavior.ALLOW else "Declined by the person."
    return Decision(
        behavior=behavior,
        source=DecisionSource.USER,
        reason_type=ReasonType.USER,
        reason=Reason.USER,
        message=message or default,
        feedback=feedback,
        interrupt=interrupt,
    )


__all__ = [
    "CoordinatorHandler",
    "Handler",
    "HeadlessHandler",
    "InteractiveHandler",
    "Mailbox",
    "RaceAborted",
    "WorkerHandler",
    "denied_for_want_of_a_person",
    "may_answer",
    "traced",
    "user_decision",
]
