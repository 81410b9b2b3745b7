"""Handlers that resolve a remaining ask, by context: interactive, coordinator, worker, headless.

`permissions.resolve.contender_authority` decides what each contender may answer;
`permissions.resolve.mailbox` has the worker's handler. Source: the pattern
"safety-and-permissions" (three handlers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType, TraceEntry
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.contender_authority import (
    eligible_contenders,
    skipped_entries,
    undecided_entries,
    with_trace,
)
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.race import Abort, Undecided, race


class Handler(Protocol):
    """Resolves an ask: the result is allow or deny, never ask."""

    @property
    def asks_users(self) -> bool:
        """Whether a user may see an ask, and what the call would do."""
        ...

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the final decision. Raises RaceAborted when the agent was interrupted."""
        ...


class InteractiveHandler:
    """All contenders race; the dialog is always among them."""

    asks_users = True

    def __init__(self, contenders: Sequence[Contender]) -> None:
        """Contenders in the order that decides ties: hook, classifiers, bridge, channel, dialog."""
        self._contenders = tuple(contenders)

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the winner's answer; deny when there is none."""
        pending = _with_entries(pending, skipped_entries(self._contenders, pending, denials))
        result = await race(
            eligible_contenders(self._contenders, pending, denials), request, pending, abort
        )
        if result.decision is None or result.winner is None:
            return denied_without_user(pending, result.undecided_contenders)
        return with_trace(pending, result.decision, result.winner, result.undecided_contenders)


class _InOrder:
    """Contenders asked one after the other; the first decisive answer counts."""

    def __init__(self, contenders: Sequence[Contender] = ()) -> None:
        """Contenders in the order in which they are asked."""
        self._contenders = tuple(contenders)

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, denials: DenialState
    ) -> Decision:
        """Return the first decisive answer in order; deny when there is none."""
        pending = _with_entries(pending, skipped_entries(self._contenders, pending, denials))
        undecided_contenders: list[Undecided] = []
        for contender in eligible_contenders(self._contenders, pending, denials):
            result = await race([contender], request, pending, abort)
            if result.decision is not None:
                return with_trace(pending, result.decision, contender.name, undecided_contenders)
            undecided_contenders.extend(result.undecided_contenders)
        return denied_without_user(pending, undecided_contenders)


class CoordinatorHandler(_InOrder):
    """Hooks, then classifier, then dialog, one after the other: for the leader of a team."""

    asks_users = True


class HeadlessHandler(_InOrder):
    """No user to ask: hooks and the classifier answer first, then an ask becomes a deny."""

    asks_users = False


_MEND = "Correct what failed, or allow the call with a rule."


def denied_without_user(
    pending: Decision, undecided_contenders: Sequence[Undecided] = ()
) -> Decision:
    """Return the deny for an unanswered ask, with the origin of the ask."""
    broken = "; ".join(_failure_line(one) for one in undecided_contenders if one.failure)
    why = "This run cannot ask, so it was denied."
    if broken:
        why = f"There was no usable answer ({broken}), so it was denied. {_MEND}"
    return replace(
        pending,
        behavior=Behavior.DENY,
        message=f"{pending.message.rstrip('.')}. {why}",
        trace=(*pending.trace, *undecided_entries(undecided_contenders)),
    )


def _failure_line(one: Undecided) -> str:
    # The dialog's failure names what would ask: a screen, a calling program, a server's tool.
    return str(one.failure) if one.name == "dialog" else f"{one.name}: {one.failure}"


def user_decision(
    behavior: Behavior, *, feedback: str | None = None, interrupt: bool = False, message: str = ""
) -> Decision:
    """Return a user's own answer, as the dialog gives it."""
    default = "Allowed by the user." if behavior is Behavior.ALLOW else "Declined by the user."
    return Decision(
        behavior=behavior,
        source=DecisionSource.USER,
        reason_type=ReasonType.USER,
        reason=Reason.USER,
        message=message or default,
        feedback=feedback,
        interrupt=interrupt,
    )


def _with_entries(pending: Decision, entries: Sequence[TraceEntry]) -> Decision:
    """Return the ask with further trace entries, for the contenders."""
    return replace(pending, trace=(*pending.trace, *entries)) if entries else pending
