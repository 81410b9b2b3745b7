"""Forwards a worker's asks to its leader, whose user answers what the worker may not decide.

`register` comes before `send`: an answer that arrives earlier would be lost, and the worker would
wait forever. `agent.teams.forwarding` implements the mailbox. Source: the pattern
"safety-and-permissions" (multi-agent permission forwarding).
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from permissions.decision import Behavior, Decision, DecisionSource, Reason, TraceEntry, TraceStep
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.contender_authority import (
    DIALOG,
    eligible_contenders,
    skipped_entries,
    undecided_entries,
    with_trace,
)
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.race import Abort, Undecided, race


class Mailbox(Protocol):
    """Sends a worker's requests and receives their answers, which are stored from `register` on."""

    def register(self, request_id: str) -> None:
        """Prepare for the answer; called before `send`. Raises ValueError for an id in use."""
        ...

    async def send(self, request: PermissionRequest, pending: Decision) -> None:
        """Send the request to the leader. Raises OSError when the leader cannot be reached."""
        ...

    async def answer(self, request_id: str) -> Decision | None:
        """Return the leader's answer, or None when the leader is gone.

        The answer may carry an `updated_input`; it is decided again before it runs.
        """
        ...

    def unregister(self, request_id: str) -> None:
        """Remove the request, answered or not; the leader need not show it any longer."""
        ...


class WorkerHandler:
    """The classifier decides, else the request goes to the leader."""

    asks_users = True

    def __init__(self, classifiers: tuple[Contender, ...], mailbox: Mailbox) -> None:
        """Without classifiers everything is forwarded; they are asked in their order."""
        self._classifiers = classifiers
        self._mailbox = mailbox

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the classifier's or the leader's answer; a leader that is gone cancels the call.

        Raises:
            RaceAborted: the worker was interrupted; the leader's copy is withdrawn.
        """
        entries = skipped_entries(self._classifiers, pending, denials)
        pending = replace(pending, trace=(*pending.trace, *entries))
        undecided_contenders: list[Undecided] = []
        for classifier in eligible_contenders(self._classifiers, pending, denials):
            result = await race([classifier], request, pending, abort)
            if result.decision is not None:
                return with_trace(pending, result.decision, classifier.name, undecided_contenders)
            undecided_contenders.extend(result.undecided_contenders)
        self._mailbox.register(request.request_id)
        try:
            leader_result = await race([_Leader(self._mailbox)], request, pending, abort)
        finally:
            self._mailbox.unregister(request.request_id)
        if leader_result.decision is None:
            return _cancel(pending, (*undecided_contenders, *leader_result.undecided_contenders))
        return with_trace(pending, leader_result.decision, DIALOG, undecided_contenders)


class _Leader:
    name = DIALOG

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        await self._mailbox.send(request, pending)
        answer = await self._mailbox.answer(request.request_id)
        if answer is None or not _may_relay(answer, pending):
            return None
        entry = TraceEntry(TraceStep.USER, str(answer.behavior), source=f"leader: {answer.source}")
        return replace(answer, trace=(entry,))


def _may_relay(answer: Decision, pending: Decision) -> bool:
    """Whether a relayed answer may lift the ask: the leader's classifier and hooks are not a
    user."""
    if answer.behavior is not Behavior.ALLOW:
        return True
    match answer.source:
        case DecisionSource.USER | DecisionSource.BRIDGE | DecisionSource.CHANNEL:
            return True
        case DecisionSource.HOOK:
            return pending.ask_reasons <= {Reason.MODE_DEFAULT, Reason.ASK_RULE}
        case _:
            return pending.is_mode_default_ask


def _cancel(pending: Decision, undecided_contenders: tuple[Undecided, ...]) -> Decision:
    return replace(
        pending,
        behavior=Behavior.DENY,
        message="The leader that should answer is gone; the call was canceled.",
        interrupt=True,
        trace=(*pending.trace, *undecided_entries(undecided_contenders)),
    )
