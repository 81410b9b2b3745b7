"""What the permission dialog asks about a call: its answers, and the decision each makes. Pure.

Next: `permission` (the dialog), `grant_offers` (what can be remembered).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.display import Display
from permissions.base.text.sanitize import reveal
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    DecisionWarning,
    GrantChoice,
    Reason,
    ReasonType,
    TraceStep,
)
from permissions.explain.explain_decision import Shorten
from permissions.request import PermissionRequest
from tui.dialogs.choices import Choice, Chosen


class GrantOffer(Struct, frozen=True):
    """An answer that also stores rules."""

    label: str
    """Continues "Yes, and …"."""
    choice: GrantChoice
    also_allows: str = ""
    """What else the rules cover, in words; empty when it is obvious."""
    needless: tuple[str, ...] = ()
    """Existing rules that would match nothing any more."""
    elsewhere: tuple[GrantOffer, ...] = ()
    """The same, stored in other places, the narrowest first."""


class PermissionAsk(Struct, frozen=True):
    """Everything the dialog shows."""

    request: PermissionRequest
    pending: Decision
    display: Display | None = None
    offers: tuple[GrantOffer, ...] = ()
    session_edits: bool = False
    """Whether Shift+Tab may pick the offer that covers all edits of the session."""
    short: Shorten = str
    """Returns a file as users write it."""


JudgeCall = Callable[[PermissionRequest], Decision | None]
"""The decision of rules, scope and mode about a call that a user changed; None where unknown."""
JudgeAgain = Callable[[PermissionRequest], PermissionAsk | None]
"""The same, as it would be asked about."""


def answers_of(ask: PermissionAsk) -> list[Choice]:
    """Return the answers, in their order; the last one is no."""
    yes = Choice("Yes", comment_hint="and tell the model…")
    no = Choice(
        "No",
        "ends the turn",
        comment_hint="and tell the model what to do instead…",
        detail_with_comment="the turn goes on",
    )
    if is_barred(ask):
        return [no]
    offers = [Choice(f"Yes, and {reveal(o.label)}", _stores(o)) for o in ask.offers]
    if ask.session_edits and offers:
        offers[0] = replace(offers[0], detail=f"{offers[0].detail} · shift+tab")
    return [yes, *offers, no]


def _stores(offer: GrantOffer) -> str:
    rules = ", ".join(reveal(rule) for rule in offer.choice.rules)
    where = _DESTINATIONS.get(offer.choice.destination, offer.choice.destination)
    stores = f"stores {rules} {where}" if rules else where
    if offer.also_allows and offer.also_allows not in offer.label:
        stores = f"{stores}; also allows {offer.also_allows}"
    if offer.needless:
        stores = f"{stores}; covers {', '.join(map(reveal, offer.needless))}, which is there"
    return f"{stores} · ←→ elsewhere" if offer.elsewhere else stores


def decision_of(ask: PermissionAsk, chosen: Chosen) -> Decision:
    """Return the decision that an answer makes."""
    is_no = is_barred(ask) or chosen.index == len(ask.offers) + 1
    offer = ask.offers[chosen.index - 1] if 0 < chosen.index <= len(ask.offers) else None
    comment = chosen.comment or None
    if is_no:
        message = "The person said no"
    else:
        message = "Allowed by the person"
    return Decision(
        behavior=Behavior.DENY if is_no else Behavior.ALLOW,
        source=DecisionSource.USER,
        reason_type=ReasonType.USER,
        reason=Reason.USER,
        message=message,
        feedback=comment,
        interrupt=is_no and comment is None,
        grant=offer.choice if offer is not None else None,
    )


def with_new_warnings(pending: Decision, shown_warnings: set[DecisionWarning]) -> Decision:
    """Return the decision with the warnings for its dialog; adds them to `shown_warnings`.

    Always those about the rule that decides. Other broken rules were reported when they were read,
    and stay in `/permissions`; warnings about the mode are shown once.
    """
    decisive = None if pending.rule is None else pending.rule.text
    fresh = [
        warning
        for warning in pending.warnings
        if (warning not in shown_warnings if warning.rule is None else warning.rule == decisive)
    ]
    shown_warnings.update(fresh)
    return replace(pending, warnings=tuple(fresh))


def is_barred(ask: PermissionAsk) -> bool:
    """Would the call, as the user changed it, be denied whatever they answer?"""
    return ask.pending.behavior is Behavior.DENY


def unjudged(proposed: PermissionAsk) -> PermissionAsk:
    """Return the ask without what was found out about the model's own call."""
    pending = replace(proposed.pending, parts=(), effects=(), message=_CHANGED)
    return replace(proposed, offers=(), session_edits=False, pending=pending)


def still_asked(judged: PermissionAsk, proposed: PermissionAsk) -> PermissionAsk:
    """Return the verdict of rules on a changed call; a hook that asked the user still asks."""
    before = proposed.pending
    asked = [
        entry for entry in before.trace if entry.step is TraceStep.HOOK and entry.answer in _ASKS
    ]
    if not asked or judged.pending.behavior is not Behavior.ALLOW:
        return judged
    pending = replace(
        judged.pending,
        behavior=Behavior.ASK,
        source=before.source,
        reason_type=before.reason_type,
        reason=before.reason,
        message=before.message,
        trace=(*judged.pending.trace, *asked),
    )
    return replace(judged, pending=pending)


_ASKS: Final = frozenset({"ask", "defer"})
_CHANGED: Final = "You changed it: rules are asked once more before it runs."
_DESTINATIONS: Final = {
    "session": "until this conversation ends",
    "localSettings": "in .agent/settings.local.json",
    "projectSettings": "in .agent/settings.json",
    "userSettings": "in ~/.agent/settings.json",
}
